import type { JSX } from "preact";
import type { Series, SourceStanding } from "posthorn/client";
import { sum } from "../../parts/chart/scale.ts";
import { Spark } from "../../parts/chart/spark.tsx";
import { State } from "../../parts/state.tsx";
import { Age } from "../../parts/time.tsx";
import { sourceHref } from "../../place/links.ts";
import { hrefOf } from "../../place/location.ts";
import { grouped, oneLine } from "../../words/format.ts";
import { sourceLook } from "../endpoints/standing.ts";
import { share } from "../overview/figures.ts";
import { providerOf } from "./providers.ts";

interface TableProps {
  readonly sources: readonly SourceStanding[];
  /** The counters of the last 24 hours. */
  readonly day: Series | undefined;
  readonly tall?: boolean;
}

/** Sources with what came from them. */
export function SourceTable({ sources, day, tall = false }: TableProps): JSX.Element {
  return (
    <div class="table-wrap">
      <table class="table standings">
        <thead>
          <tr>
            <th>Source</th>
            <th>State</th>
            <th class="num">In, 24 h</th>
            <th class="num hide-m">Duplicates</th>
            <th class="num hide-s">Rejected</th>
            <th class="num">Last</th>
            <th class="num hide-s">24 h</th>
          </tr>
        </thead>
        <tbody>
          {sources.map((source) => (
            <SourceRow source={source} day={day} tall={tall} key={source.name} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  readonly source: SourceStanding;
  readonly day: Series | undefined;
  readonly tall: boolean;
}

function SourceRow({ source, day, tall }: RowProps): JSX.Element {
  const { name, scheme, lastAt } = source;
  const look = sourceLook(source);
  const own = day?.sources.find((each) => each.name === name);
  const came = sum(own?.in ?? []);
  const duplicate = sum(own?.duplicate ?? []);
  const rejected = sum(own?.rejected ?? []) + sum(own?.conflict ?? []);
  return (
    <tr data-row class={tall ? "tall" : ""}>
      <td>
        <a class="main-cell" href={sourceHref(name)} data-open>
          {oneLine(name, 40)}
        </a>
        {tall && <span class="sub">{providerOf(scheme).title}</span>}
      </td>
      <td>
        <State look={look} />
      </td>
      <td class="num">
        <a href={hrefOf("/events", { source: name })}>{grouped(came)}</a>
      </td>
      <td class="num dim hide-m">
        {came === 0 ? "–" : `${duplicate === 0 ? "0" : share(duplicate, came)} %`}
      </td>
      <td class={`num hide-s ${rejected > 0 ? "warn" : "dim"}`}>
        <a href={hrefOf("/rejected", { source: name })}>{grouped(rejected)}</a>
      </td>
      <td class={`num ${look.word === "silent" ? "warn" : "dim"}`}>
        {lastAt === null ? "–" : <Age at={lastAt} />}
      </td>
      <td class="num hide-s">
        <Spark
          values={own?.in ?? []}
          label={`${grouped(came)} came in 24 hours`}
          tone={look.tone === "waiting" ? "disabled" : look.tone}
        />
      </td>
    </tr>
  );
}
