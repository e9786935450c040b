import type { JSX } from "preact";
import type { EventSummary } from "posthorn/client";
import { CellFilter } from "../../parts/list.tsx";
import { Ago } from "../../parts/time.tsx";
import { eventHref, sourceHref } from "../../place/links.ts";
import { byteSize, oneLine, shortId } from "../../words/format.ts";

/** Rows of events; with `filters`, a click on a value filters by it. */
export function EventTable({
  rows,
  filters = false,
}: {
  readonly rows: readonly EventSummary[];
  readonly filters?: boolean;
}): JSX.Element {
  return (
    <div class="table-wrap">
      <table class="table">
        <thead>
          <tr>
            <th>Type</th>
            <th class="hide-s">Event</th>
            <th class="hide-s">Source</th>
            <th class="hide-s">Key</th>
            <th class="num hide-m">Size</th>
            <th class="num">When</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((event) => (
            <EventRow event={event} filters={filters} key={`${event.tenant}/${event.id}`} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function EventRow({
  event,
  filters,
}: {
  readonly event: EventSummary;
  readonly filters: boolean;
}): JSX.Element {
  const { id, tenant, type, source, key, bodyBytes, writtenAt } = event;
  const href = eventHref(id, tenant);
  const keyWords = key === null ? "–" : oneLine(key, 40);
  return (
    <tr data-row>
      <td>
        <a class="main-cell" href={href} data-open>
          {oneLine(type, 60)}
        </a>
        <span class="sub mono only-s">{shortId(oneLine(id))}</span>
      </td>
      <td class="mono nowrap hide-s">
        <a href={href} title={oneLine(id)}>
          {shortId(oneLine(id))}
        </a>
      </td>
      <td class="dim hide-s">
        {filters ? (
          <CellFilter name="source" value={source} />
        ) : (
          <a href={sourceHref(source)}>{oneLine(source, 30)}</a>
        )}
      </td>
      <td class="dim hide-s">
        {filters && key !== null ? (
          <CellFilter name="key" value={key}>
            {keyWords}
          </CellFilter>
        ) : (
          keyWords
        )}
      </td>
      <td class="num faint hide-m">{byteSize(bodyBytes)}</td>
      <td class="num dim nowrap">
        <Ago at={writtenAt} />
      </td>
    </tr>
  );
}
