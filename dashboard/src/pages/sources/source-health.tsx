import type { JSX } from "preact";
import { api } from "../../api/api.ts";
import { useLive } from "../../api/live.ts";
import { courseEveryMs, currentWindow, perStep, zoomTo } from "../../api/ranges.ts";
import { Chart } from "../../parts/chart/chart.tsx";
import { RangePick } from "../../parts/chart/range-pick.tsx";
import { sum } from "../../parts/chart/scale.ts";
import { Panel } from "../../parts/panel.tsx";
import { hrefOf } from "../../place/location.ts";
import { grouped } from "../../words/format.ts";
import { added } from "../overview/figures.ts";

/** What a source sent over time: taken in upwards, rejected downwards. */
export function SourceHealth({ name }: { readonly name: string }): JSX.Element {
  const window = currentWindow("24h");
  const { since = "", until = "" } = window.query;
  const { data } = useLive(
    `series of the source ${name} ${since} ${until}`,
    () => api.series({ ...window.query, source: name, by: "source" }),
    { everyMs: courseEveryMs(window) },
  );
  const words = `Requests ${perStep(window.stepS)}`;
  const rejected = data === undefined ? [] : added(data.total.rejected, data.total.conflict);
  const taken = data === undefined ? [] : added(data.total.stored, data.total.duplicate);
  return (
    <Panel title={words} class="fill" end={<RangePick window={window} />}>
      <div class="pad source-health">
        {data === undefined ? (
          <div class="chart-space" />
        ) : (
          <Chart
            label={words}
            times={data.times.map((at) => Date.parse(at))}
            stepMs={data.stepS * 1000}
            up={{ word: "taken in", icon: "s-landed", tone: "landed", values: taken }}
            down={{ word: "rejected", icon: "s-attempt", tone: "halted", values: rejected }}
            onZoom={zoomTo}
          />
        )}
        <p class="small dim">
          <a class="link" href={hrefOf("/events", { source: name })}>
            {grouped(sum(data?.total.stored ?? []))} stored
          </a>
          , {grouped(sum(data?.total.duplicate ?? []))} duplicates,{" "}
          <a class="link" href={hrefOf("/rejected", { source: name })}>
            {grouped(sum(rejected))} rejected
          </a>{" "}
          in the {window.words}.
        </p>
      </div>
    </Panel>
  );
}
