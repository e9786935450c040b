import type { JSX } from "preact";
import type { EndpointStanding, Series } from "posthorn/client";
import { api } from "../../api/api.ts";
import { useLive } from "../../api/live.ts";
import { courseEveryMs, currentWindow, perStep, zoomTo } from "../../api/ranges.ts";
import type { Window } from "../../api/ranges.ts";
import { Chart } from "../../parts/chart/chart.tsx";
import { RangePick } from "../../parts/chart/range-pick.tsx";
import { sum } from "../../parts/chart/scale.ts";
import { Spark } from "../../parts/chart/spark.tsx";
import { Panel } from "../../parts/panel.tsx";
import { hrefOf } from "../../place/location.ts";
import { duration, grouped } from "../../words/format.ts";
import { share, worst } from "../overview/figures.ts";
import { standingLook } from "./standing.ts";

/** How an endpoint answers: figures, and their course. */
export function Health({ standing }: { readonly standing: EndpointStanding }): JSX.Element {
  const window = currentWindow("24h");
  const { since = "", until = "" } = window.query;
  const { id } = standing;
  const series = useLive(
    `series of ${id} ${since} ${until}`,
    () => api.series({ ...window.query, endpoint: id, by: "endpoint" }),
    { everyMs: courseEveryMs(window) },
  );
  const words = `Answers ${perStep(window.stepS)}`;
  return (
    <>
      <HealthFigures standing={standing} series={series.data} window={window} />
      <Panel title={words} class="fill" end={<RangePick window={window} legend />}>
        <div class="pad">
          {series.data === undefined ? (
            <div class="chart-space" />
          ) : (
            <Chart
              label={words}
              times={series.data.times.map((at) => Date.parse(at))}
              stepMs={series.data.stepS * 1000}
              up={{ word: "landed", icon: "s-landed", tone: "landed", values: series.data.total.delivered }}
              down={{ word: "failed", icon: "s-attempt", tone: "halted", values: series.data.total.failed }}
              onZoom={zoomTo}
            />
          )}
        </div>
      </Panel>
    </>
  );
}

interface FiguresProps {
  readonly standing: EndpointStanding;
  readonly series: Series | undefined;
  readonly window: Window;
}

function HealthFigures({ standing, series, window }: FiguresProps): JSX.Element {
  const { id, waiting, oldestMs, exact } = standing;
  const total = series?.total;
  const delivered = sum(total?.delivered ?? []);
  const failed = sum(total?.failed ?? []);
  const p50 = middle(total?.duration.p50 ?? []);
  const p99 = worst(total?.duration.p99 ?? []);
  const tone = standingLook(standing).tone;
  return (
    <section class="stats four" aria-label={`Figures of the ${window.words}`}>
      <Stat
        label="Landed"
        href={hrefOf("/lanes", { endpoint: id })}
        value={share(delivered, delivered + failed)}
        unit={delivered + failed === 0 ? "" : "%"}
        more={`${grouped(delivered)} of ${grouped(delivered + failed)} attempts, ${window.words}`}
      >
        <Spark values={total?.delivered ?? []} label="Course of landed" tone="landed" />
      </Stat>
      <Stat
        label="Time to answer"
        href={hrefOf("/lanes", { endpoint: id })}
        value={p50 === null ? "–" : duration(p50)}
        unit={p50 === null ? "" : "p50"}
        more={p99 === null ? "no answer yet" : `p99 ${duration(p99)}`}
      >
        <Spark values={total?.duration.p50 ?? []} label="Course of the time to answer" />
      </Stat>
      <Stat
        label="Waiting"
        href={hrefOf("/lanes", { endpoint: id })}
        value={`${grouped(waiting)}${exact ? "" : "+"}`}
        unit=""
        more={waiting === 0 || oldestMs === null ? "every lane is empty" : `oldest ${duration(oldestMs)}`}
      >
        <Spark
          values={total?.attempts ?? []}
          label="Course of attempts"
          tone={tone === "halted" ? "halted" : "waiting"}
        />
      </Stat>
      <Stat
        label="Given up"
        href={hrefOf("/dead", { endpoint: id })}
        value={grouped(sum(total?.dead ?? []))}
        unit=""
        more={window.words}
      >
        <Spark values={total?.dead ?? []} label="Course of dead letters" tone="dead" bars />
      </Stat>
    </section>
  );
}

/** The middle one of the steps in which something was measured. */
function middle(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).toSorted((left, right) => left - right);
  return known[Math.floor(known.length / 2)] ?? null;
}

interface StatProps {
  readonly label: string;
  readonly href: string;
  readonly value: string;
  readonly unit: string;
  readonly more: string;
  readonly children: JSX.Element;
}

function Stat({ label, href, value, unit, more, children }: StatProps): JSX.Element {
  return (
    <a class="stat" href={href}>
      <span class="label">{label}</span>
      <span class="figure">
        {value} <small>{unit}</small>
      </span>
      <span class="delta">{more}</span>
      {children}
    </a>
  );
}
