import type { JSX } from "preact";
import type { InboxRow } from "posthorn/client";
import { CellFilter } from "../../parts/list.tsx";
import { State } from "../../parts/state.tsx";
import { Ago } from "../../parts/time.tsx";
import { consumerHref, inboxHref } from "../../place/links.ts";
import { oneLine, shortId } from "../../words/format.ts";
import { inboxLook } from "../../words/words.ts";

/** What tells one row from all others. */
export function rowName({ tenant, id, consumerId }: Pick<InboxRow, "tenant" | "id" | "consumerId">): string {
  return `${tenant} ${consumerId} ${id}`;
}

interface TableProps {
  readonly rows: readonly InboxRow[];
  /** A click on a value filters by it. */
  readonly filters?: boolean;
}

/** Rows of the inbox: one event at one consumer each. */
export function InboxTable({ rows, filters = false }: TableProps): JSX.Element {
  return (
    <div class="table-wrap">
      <table class="table">
        <thead>
          <tr>
            <th>Type</th>
            <th class="hide-s">Event</th>
            <th>Outcome</th>
            {filters && <th class="hide-s">Consumer</th>}
            <th class="hide-m">Source</th>
            <th class="num hide-m">Attempts</th>
            <th class="num">Received</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row row={row} filters={filters} key={rowName(row)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ row, filters }: { readonly row: InboxRow; readonly filters: boolean }): JSX.Element {
  const { type, source, eventId, idPreview, consumerId, outcome, attempts, error, receivedAt } = row;
  const href = inboxHref(row);
  // An id that is kept as a hash is known by its beginning.
  const id = oneLine(idPreview ?? eventId);
  return (
    <tr data-row class={error === null ? "" : "tall"}>
      <td>
        <a class="main-cell" href={href} data-open>
          {oneLine(type, 60)}
        </a>
        {error !== null && <span class="sub">{oneLine(error, 70)}</span>}
        <span class="sub only-s">
          {filters ? oneLine(consumerId, 30) : <span class="mono">{shortId(id)}</span>}
        </span>
      </td>
      <td class="mono nowrap hide-s">
        <a href={href} title={id}>
          {shortId(id)}
        </a>
      </td>
      <td>
        {filters ? (
          <CellFilter name="outcome" value={outcome}>
            <State look={inboxLook(outcome)} />
          </CellFilter>
        ) : (
          <State look={inboxLook(outcome)} />
        )}
      </td>
      {filters && (
        <td class="dim hide-s">
          <ConsumerCell id={consumerId} />
        </td>
      )}
      <td class="dim hide-m">
        {filters ? <CellFilter name="source" value={source} /> : oneLine(source, 30)}
      </td>
      <td class="num dim hide-m">{attempts}</td>
      <td class="num dim nowrap">
        <Ago at={receivedAt} />
      </td>
    </tr>
  );
}

function ConsumerCell({ id }: { readonly id: string }): JSX.Element {
  return (
    <a href={consumerHref(id)} title={`Look at ${id}`}>
      {oneLine(id, 40)}
    </a>
  );
}
