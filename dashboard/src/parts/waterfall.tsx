import type { JSX } from "preact";
import type { Delivery } from "posthorn/client";
import { duration, oneLine } from "../format.ts";
import { axisOf } from "../story.ts";
import type { Axis, Bar, Story } from "../story.ts";
import { deliveryLook, outcomeLook } from "../words.ts";
import { Shape } from "./icon.tsx";
import { Panel } from "./panel.tsx";

const WIDTH = 440;
// An attempt of a millisecond would be too thin to see.
const LEAST_WIDTH = 4;

/** The attempts of all endpoints on one axis. Only where there is something to compare. */
export function Waterfall({ story }: { readonly story: Story }): JSX.Element | null {
  const axis = axisOf(story.attempts);
  const tried = story.event.deliveries.filter(({ id }) => (story.attempts.get(id)?.length ?? 0) > 0);
  if (axis === undefined || tried.length === 0) return null;
  return (
    <Panel title="Attempts of all endpoints" end="since the first attempt, log scale">
      <div class="pad">
        <div class="wf">
          {tried.map((delivery) => (
            <WaterfallRow delivery={delivery} axis={axis} key={delivery.id} />
          ))}
          <span class="ticks ticks-axis">
            <svg viewBox={`0 0 ${WIDTH} 18`} aria-hidden="true">
              {axis.ticks.map(({ at, ms }) => (
                <text x={at * WIDTH} y="12" key={ms}>
                  {duration(ms)}
                </text>
              ))}
            </svg>
          </span>
        </div>
      </div>
    </Panel>
  );
}

function WaterfallRow({ delivery, axis }: { readonly delivery: Delivery; readonly axis: Axis }): JSX.Element {
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
        {bars.map((bar, index) => (
          <BarShape bar={bar} key={index} />
        ))}
      </svg>
      <span class="end">{look.word}</span>
    </>
  );
}

function BarShape({ bar }: { readonly bar: Bar }): JSX.Element {
  const x = bar.from * WIDTH;
  const width = Math.max(LEAST_WIDTH, (bar.to - bar.from) * WIDTH);
  return (
    <g class={`s-${outcomeLook(bar.outcome).tone}`}>
      <rect x={Math.min(x, WIDTH - LEAST_WIDTH)} y="8" width={width} height="14" rx="1" />
    </g>
  );
}
