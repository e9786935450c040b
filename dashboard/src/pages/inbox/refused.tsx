import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { RefusedEvent } from "posthorn/client";
import { api } from "../../api/api.ts";
import { Filters, filtersIn } from "../../parts/filters.tsx";
import { CellFilter, FreshRows, ListFoot, useList } from "../../parts/list.tsx";
import { Empty, FailureNotice, Page, PageHead } from "../../parts/page.tsx";
import { State } from "../../parts/state.tsx";
import { Ago } from "../../parts/time.tsx";
import { inboxHref, shellWord, walk } from "../../place/links.ts";
import { byteSize, oneLine, shortId } from "../../words/format.ts";
import { refusedLook } from "./failures.tsx";
import { InboxTabs } from "./inbox-tabs.tsx";

const FILTERS = ["source", "because", "tenant"] as const;

function nameOf({ tenant, id, because, bodyHash }: RefusedEvent): string {
  return `${tenant} ${id} ${because} ${bodyHash}`;
}

/** Events that were refused for good: conflicts and stale ones. */
export function Refused(): JSX.Element {
  const filter = filtersIn(FILTERS);
  const asked = new URLSearchParams(filter).toString();
  const list = useList(`refused?${asked}`, (page) => api.inbox.refused({ ...filter, ...page }), nameOf);
  useEffect(() => {
    walk.value = [...new Set(list.rows.map((each) => inboxHref(each)))];
  }, [list.rows]);
  const flags = Object.entries(filter).map(([name, value]) => ` --${name} ${shellWord(value)}`);
  return (
    <Page
      title="Refused events"
      cli={[`posthorn inbox refused${flags.join("")}`]}
      get={[`/refused?${asked}`]}
    >
      <PageHead
        title="Inbox"
        lede="Events that no handler saw: another body under an id that is known, or older than what is remembered. Their bytes are kept."
      />
      <InboxTabs />
      <Filters names={FILTERS} filter={filter} />
      {list.live.failure !== undefined && <FailureNotice failure={list.live.failure} />}
      <section class="panel" aria-label="Refused events" {...list.hold}>
        <FreshRows of={list} />
        {list.rows.length > 0 && <RefusedTable events={list.rows} />}
        {list.rows.length > 0 && <ListFoot of={list} noun="body" head="first" />}
        {list.rows.length === 0 && list.live.data !== undefined && (
          <Empty icon="check" title={asked === "" ? "Nothing was refused" : "None of them fits"}>
            A request whose signature does not hold never gets as far as the inbox: a gateway has those among
            its rejected requests.
          </Empty>
        )}
      </section>
    </Page>
  );
}

function RefusedTable({ events }: { readonly events: readonly RefusedEvent[] }): JSX.Element {
  return (
    <div class="table-wrap">
      <table class="table">
        <thead>
          <tr>
            <th>Type</th>
            <th class="hide-s">Event</th>
            <th>Why</th>
            <th class="hide-m">Source</th>
            <th class="hide-m">SHA-256 of the body</th>
            <th class="num hide-m">Size</th>
            <th class="num hide-s">Times</th>
            <th class="num">Last</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event) => (
            <RefusedRow event={event} key={nameOf(event)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RefusedRow({ event }: { readonly event: RefusedEvent }): JSX.Element {
  const { type, eventId, because, source, bodyHash, bodyBytes, receipts, lastRefusedAt } = event;
  const href = inboxHref(event);
  return (
    <tr data-row>
      <td>
        <a class="main-cell" href={href} data-open>
          {oneLine(type, 60)}
        </a>
        <span class="sub only-s mono">{shortId(oneLine(eventId))}</span>
      </td>
      <td class="mono nowrap hide-s">
        <a href={href} title={oneLine(eventId)}>
          {shortId(oneLine(eventId))}
        </a>
      </td>
      <td>
        <CellFilter name="because" value={because}>
          <State look={{ ...refusedLook(because), word: because }} />
        </CellFilter>
      </td>
      <td class="dim hide-m">
        <CellFilter name="source" value={source} />
      </td>
      <td class="mono dim hide-m" title={bodyHash}>
        {bodyHash.slice(0, 12)}…
      </td>
      <td class="num faint hide-m">{byteSize(bodyBytes)}</td>
      <td class="num dim hide-s">{receipts}</td>
      <td class="num dim nowrap">
        <Ago at={lastRefusedAt} />
      </td>
    </tr>
  );
}
