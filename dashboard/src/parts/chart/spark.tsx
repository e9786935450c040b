import type { JSX } from "preact";
import type { Look } from "../../words/words.ts";
import { linePath } from "./scale.ts";

const WIDTH = 112;
const HEIGHT = 30;

interface SparkProps {
  readonly values: readonly (number | null)[];
  /** What it shows, for whoever does not see it. */
  readonly label: string;
  readonly tone?: Look["tone"] | undefined;
  readonly bars?: boolean;
}

/** The course of a figure, without axes: a figure stands beside it. */
export function Spark({ values, label, tone, bars = false }: SparkProps): JSX.Element {
  return (
    <svg
      class={`spark ${tone === undefined ? "" : `s-${tone}`}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {bars ? <Bars values={values} /> : <Line values={values} />}
    </svg>
  );
}

function Line({ values }: Pick<SparkProps, "values">): JSX.Element | null {
  if (values.length === 0) return null;
  const { line, area } = linePath(values, { width: WIDTH, height: HEIGHT });
  return (
    <>
      <path class="area" d={area} />
      <path class="line" d={line} />
    </>
  );
}

function Bars({ values }: Pick<SparkProps, "values">): JSX.Element {
  const most = Math.max(1, ...values.map((value) => value ?? 0));
  const step = WIDTH / Math.max(1, values.length);
  return (
    <>
      <path class="zero" d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} />
      {values.map((value, index) => {
        const height = ((value ?? 0) / most) * (HEIGHT - 3);
        return (
          <rect
            class="bar"
            key={index}
            x={index * step + step * 0.1}
            y={HEIGHT - height}
            width={step * 0.8}
            height={height}
          />
        );
      })}
    </>
  );
}
