import type { JSX } from "preact";
import { clockTime, grouped } from "../../words/format.ts";
import { Shape } from "../icon.tsx";
import { useBrush } from "./brush.ts";
import type { Span } from "./brush.ts";
import { labelled, roundUp, ticks, timeLabel } from "./scale.ts";

/** One kind of what is counted: its word, its shape, and how many in each step. */
export interface Layer {
  readonly word: string;
  readonly icon: string;
  readonly tone: string;
  readonly values: readonly number[];
}

export interface RateChartProps {
  /** What is counted, for whoever listens: "deliveries per minute". */
  readonly label: string;
  /** The start of each step. */
  readonly times: readonly number[];
  readonly stepMs: number;
  /** Grows upwards, calm. */
  readonly up: Layer;
  /** Grows downwards from the axis, loud. */
  readonly down: Layer;
  /** Told of the part that was dragged over. */
  readonly onZoom: (fromMs: number, toMs: number) => void;
}

const WIDTH = 600;
const HEIGHT = 200;
// Failures keep at least this part of the height, so that the axis does not jump when the first one comes.
const LEAST_BELOW = 0.18;

interface Frame {
  readonly most: number;
  readonly least: number;
  readonly zeroAt: number;
  readonly perUnit: number;
}

function frameOf(up: readonly number[], down: readonly number[]): Frame {
  const most = roundUp(Math.max(...up, 0));
  const below = Math.max(...down, 0);
  const least = below === 0 ? most * LEAST_BELOW : Math.max(roundUp(below), most * LEAST_BELOW);
  const perUnit = HEIGHT / (most + least);
  return { most, least, zeroAt: most * perUnit, perUnit };
}

/** Counts by time: what went well grows up, what failed grows down. Dragging over a part zooms into it. */
export function RateChart(props: RateChartProps): JSX.Element {
  const { times, stepMs, up, down } = props;
  const frame = frameOf(up.values, down.values);
  const spanMs = times.length * stepMs;
  return (
    <div class="chart">
      <div class="y" aria-hidden="true">
        {yTicks(frame).map((value) => (
          <span key={value} style={{ top: `${((frame.zeroAt - value * frame.perUnit) / HEIGHT) * 100}%` }}>
            {grouped(Math.abs(value))}
          </span>
        ))}
      </div>
      <Plot {...props} frame={frame} />
      <div class="x" aria-hidden="true">
        {labelled(times.length, 5).map((index) => (
          <span key={index} style={{ left: `${((index + 0.5) / times.length) * 100}%` }}>
            {timeLabel(times[index] ?? 0, spanMs)}
          </span>
        ))}
      </div>
    </div>
  );
}

function yTicks({ most, least }: Frame): readonly number[] {
  const above = ticks(most, 3);
  const step = (above[1] ?? most) - (above[0] ?? 0);
  const below = step <= least * 1.01 ? [-step] : [];
  return [...above, ...below];
}

function Plot(props: RateChartProps & { readonly frame: Frame }): JSX.Element {
  const { times, up, down, label, frame } = props;
  const { at, drag, hold } = useBrush(props);
  const last = Math.max(0, times.length - 1);
  return (
    <div
      class="plot"
      tabIndex={0}
      role="slider"
      aria-label={`${label}. Left and right move through time; with shift they mark a part, and enter zooms into it.`}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at ?? last}
      aria-valuetext={wordsAt(props, at ?? last)}
      {...hold}
    >
      <Drawing up={up.values} down={down.values} frame={frame} at={at} drag={drag} />
      {at !== undefined && <Tip {...props} at={at} />}
    </div>
  );
}

function wordsAt({ times, up, down }: RateChartProps, at: number): string {
  const time = times[at];
  if (time === undefined) return "nothing yet";
  return `${timeLabel(time, 0)}: ${up.values[at] ?? 0} ${up.word}, ${down.values[at] ?? 0} ${down.word}`;
}

interface DrawingProps {
  readonly up: readonly number[];
  readonly down: readonly number[];
  readonly frame: Frame;
  readonly at: number | undefined;
  readonly drag: Span | undefined;
}

function Drawing({ up, down, frame, at, drag }: DrawingProps): JSX.Element {
  const { zeroAt, perUnit } = frame;
  const step = WIDTH / Math.max(1, up.length);
  const gap = up.length > 150 ? 0 : step * 0.12;
  const bar = (values: readonly number[], index: number, name: string): JSX.Element | null => {
    const value = values[index] ?? 0;
    if (value === 0) return null;
    // One failure among a thousand still has to be seen.
    const height = Math.max(name === "down" ? 2.5 : 1, value * perUnit);
    return (
      <rect
        class={name}
        key={`${name} ${index}`}
        x={index * step + gap / 2}
        y={name === "up" ? zeroAt - height : zeroAt + 1}
        width={step - gap}
        height={height}
      />
    );
  };
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {yTicks(frame).map((value) => (
        <path class="grid" key={value} d={`M0 ${zeroAt - value * perUnit}H${WIDTH}`} />
      ))}
      {up.map((_, index) => bar(up, index, "up"))}
      {down.map((_, index) => bar(down, index, "down"))}
      <path class="axis" d={`M0 ${zeroAt}H${WIDTH}`} />
      {at !== undefined && <rect class="cursor" x={at * step} y="0" width={step} height={HEIGHT} />}
      {drag !== undefined && drag.from !== drag.to && (
        <rect
          class="brush"
          x={Math.min(drag.from, drag.to) * step}
          y="0"
          width={(Math.abs(drag.to - drag.from) + 1) * step}
          height={HEIGHT}
        />
      )}
    </svg>
  );
}

function Tip({ times, up, down, at }: RateChartProps & { readonly at: number }): JSX.Element {
  const part = (at + 0.5) / Math.max(1, times.length);
  const side = part > 0.55 ? { right: `${(1 - part) * 100 + 2}%` } : { left: `${part * 100 + 2}%` };
  return (
    <div class="tip" style={side} aria-hidden="true">
      <b>{clockTime(times[at] ?? 0, Date.now()).replace(/:\d\d\.\d{3}$/, "")}</b>
      <dl>
        {[up, down].map(({ word, icon, tone, values }) => (
          <div key={word}>
            <dt class={`s-${tone}`}>
              <Shape name={icon} /> {word}
            </dt>
            <dd>{grouped(values[at] ?? 0)}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
