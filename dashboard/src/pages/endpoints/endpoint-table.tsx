import type { JSX } from "preact";
import type { EndpointStanding, Series } from "posthorn/client";
import { Spark } from "../../parts/chart/spark.tsx";
import { sum } from "../../parts/chart/scale.ts";
import { State } from "../../parts/state.tsx";
import { endpointHref } from "../../place/links.ts";
import { hrefOf } from "../../place/location.ts";
import { age, grouped, oneLine } from "../../words/format.ts";
import { share } from "../overview/figures.ts";
import { standingLook } from "./standing.ts";

interface TableProps {
  readonly endpoints: readonly EndpointStanding[];
  /** The counters of the last 24 hours. */
  readonly day: Series | undefined;
  /** Shows the address too. */
  readonly tall?: boolean;
}

/** Endpoints with how they stand. */
export function EndpointTable({ endpoints, day, tall = false }: TableProps): JSX.Element {
  return (
    <div class="table-wrap">
      <table class="table standings">
        <thead>
          <tr>
            <th>Endpoint</th>
            <th>State</th>
            <th class="num hide-s">Landed, 24 h</th>
            <th class="num hide-m">p50 / p99</th>
            <th class="num">Waiting</th>
            <th class="num hide-s">Oldest</th>
            <th class="num hide-s">24 h</th>
          </tr>
        </thead>
        <tbody>
          {endpoints.map((endpoint) => (
            <EndpointRow endpoint={endpoint} day={day} tall={tall} key={endpoint.id} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  readonly endpoint: EndpointStanding;
  readonly day: Series | undefined;
  readonly tall: boolean;
}

function EndpointRow({ endpoint, day, tall }: RowProps): JSX.Element {
  const { id, url, waiting, oldestMs, exact, recent } = endpoint;
  const look = standingLook(endpoint);
  const own = day?.endpoints.find((each) => each.id === id);
  const delivered = sum(own?.delivered ?? []);
  const failed = sum(own?.failed ?? []);
  const quiet = look.tone === "landed" || look.tone === "disabled";
  return (
    <tr data-row class={tall ? "tall" : ""}>
      <td>
        <a class="main-cell" href={endpointHref(id)} data-open>
          {oneLine(id, 40)}
        </a>
        {tall && <span class="sub cut url-cell">{oneLine(url, 80)}</span>}
      </td>
      <td>
        <State look={look} />
      </td>
      <td class={`num hide-s ${failed === 0 ? "" : look.tone === "landed" ? "warn" : "bad"}`}>
        <a href={endpointHref(id)}>
          {delivered + failed === 0 ? "–" : `${share(delivered, delivered + failed)} %`}
        </a>
      </td>
      <td class="num dim hide-m">{quantiles(recent)}</td>
      <td class="num">
        <a href={hrefOf("/lanes", { endpoint: id })}>
          {grouped(waiting)}
          {exact ? "" : "+"}
        </a>
      </td>
      <td class="num dim hide-s">{oldestMs === null || waiting === 0 ? "–" : age(oldestMs)}</td>
      <td class="num hide-s">
        <Spark
          values={own?.delivered ?? []}
          label={`${grouped(delivered)} landed in 24 hours`}
          tone={quiet ? "landed" : look.tone}
        />
      </td>
    </tr>
  );
}

/** `12`, `1.2 s`: milliseconds have no unit here. */
function short(ms: number): string {
  return ms < 1000 ? String(Math.round(ms)) : `${(ms / 1000).toFixed(1)} s`;
}

/** `12 / 40 ms` of the last ten minutes. */
export function quantiles({ p50Ms, p99Ms }: Pick<EndpointStanding["recent"], "p50Ms" | "p99Ms">): string {
  if (p50Ms === null || p99Ms === null) return "–";
  if (p99Ms < 1000) return `${short(p50Ms)} / ${short(p99Ms)} ms`;
  return `${short(p50Ms)}${p50Ms < 1000 ? " ms" : ""} / ${short(p99Ms)}`;
}
