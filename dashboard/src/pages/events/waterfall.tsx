import type { JSX } from "preact";
import type { StoryDelivery } from "posthorn/client";
import { Shape } from "../../parts/icon.tsx";
import { Panel } from "../../parts/panel.tsx";
import { duration, oneLine } from "../../words/format.ts";
import { deliveryLook, outcomeLook } from "../../words/words.ts";
import { axisOf } from "./attempts.ts";
import type { Axis, Bar } from "./attempts.ts";

const WIDTH = 440;
// An attempt of a millisecond would be too thin to see.
const LEAST_WIDTH = 4;

interface WaterfallProps {
  readonly deliveries: readonly StoryDelivery[];
  /** Of the attempt that is looked at. */
  readonly chosen: string | undefined;
}

/** The attempts of all endpoints on one axis. Only where there is something to compare. */
export function Waterfall({ deliveries, chosen }: WaterfallProps): JSX.Element | null {
  const axis = axisOf(deliveries);
  const tried = deliveries.filter((delivery) => delivery.tried.length > 0);
  if (axis === undefined || tried.length === 0) return null;
  return (
    <Panel title="Attempts of all endpoints" end="since the first attempt, log scale">
      <div class="pad">
        <div class="wf">
          {tried.map((delivery) => (
            <WaterfallRow delivery={delivery} axis={axis} chosen={chosen} key={delivery.id} />
          ))}
          <span class="ticks-wf">
            {axis.ticks.map(({ at, ms }) => (
              <span key={ms} style={{ left: `${at * 100}%` }}>
                {duration(ms)}
              </span>
            ))}
          </span>
        </div>
      </div>
    </Panel>
  );
}

interface RowProps {
  readonly delivery: StoryDelivery;
  readonly axis: Axis;
  readonly chosen: string | undefined;
}

function WaterfallRow({ delivery, axis, chosen }: RowProps): JSX.Element {
  const bars = axis.bars.get(delivery.id) ?? [];
  const look = deliveryLook(delivery.state);
  const last = bars.at(-1)?.to ?? 0;
  return (
    <>
      <span class={`lane-name s-${look.tone}`}>
        <Shape name={look.icon} />
        <span class="cut">{oneLine(delivery.endpointId, 24)}</span>
      </span>
      <svg
        viewBox={`0 0 ${WIDTH} 30`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${bars.length} attempts, ${look.word}`}
      >
        {axis.ticks.map(({ at, ms }) => (
          <path class="g" d={`M${at * WIDTH} 0V30`} key={ms} />
        ))}
        <path class="wait" d={`M0 15H${last * WIDTH}`} />
        {bars.map((bar) => (
          <BarShape bar={bar} on={bar.name === chosen} key={bar.name} />
        ))}
      </svg>
      <span class="end">{lasted(delivery)}</span>
    </>
  );
}

/** From the first start to the last end. */
function lasted({ tried }: StoryDelivery): string {
  const [first] = tried;
  const last = tried.at(-1);
  if (first === undefined || last === undefined) return "";
  return duration(Date.parse(last.startedAt) - Date.parse(first.startedAt) + last.durationMs);
}

function BarShape({ bar, on }: { readonly bar: Bar; readonly on: boolean }): JSX.Element {
  const x = bar.from * WIDTH;
  const width = Math.max(LEAST_WIDTH, (bar.to - bar.from) * WIDTH);
  return (
    <g class={`s-${outcomeLook(bar.outcome).tone}`}>
      <rect x={Math.min(x, WIDTH - LEAST_WIDTH)} y={on ? 4 : 8} width={width} height={on ? 22 : 14} rx="1" />
    </g>
  );
}
