import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { InboxRow } from "posthorn/client";
import { api } from "../../api/api.ts";
import { useStatus } from "../../api/status.ts";
import { Filters, filtersIn } from "../../parts/filters.tsx";
import { FreshRows, ListFoot, useList } from "../../parts/list.tsx";
import { Empty, FailureNotice, Page, PageHead } from "../../parts/page.tsx";
import { inboxHref, shellWord, walk } from "../../place/links.ts";
import { hrefOf } from "../../place/location.ts";
import { count } from "../../words/format.ts";
import { InboxTabs } from "./inbox-tabs.tsx";
import { InboxTable, rowName } from "./inbox-table.tsx";

const FILTERS = ["source", "outcome", "consumer", "type", "since", "until", "id", "tenant"] as const;

/** What came in for handlers, and what they made of it. */
export function Inbox(): JSX.Element {
  const filter = filtersIn(FILTERS);
  const asked = new URLSearchParams(filter).toString();
  const list = useList(`inbox?${asked}`, (page) => api.inbox.list({ ...filter, ...page }), rowName);
  useEffect(() => {
    // Rows of one event at several consumers are one page.
    walk.value = [...new Set(list.rows.map((row: InboxRow) => inboxHref(row)))];
  }, [list.rows]);
  const flags = Object.entries(filter).map(([name, value]) => ` --${name} ${shellWord(value)}`);
  return (
    <Page
      title="Inbox"
      cli={[`posthorn inbox list${flags.join("")}`, "posthorn inbox refused"]}
      get={[`/inbox?${asked}`]}
    >
      <PageHead title="Inbox" lede={<Lede />} />
      <InboxTabs />
      <Filters names={FILTERS} filter={filter} />
      {list.live.failure !== undefined && <FailureNotice failure={list.live.failure} />}
      <section class="panel" aria-label="Inbox" {...list.hold}>
        <FreshRows of={list} />
        {list.rows.length > 0 && <InboxTable rows={list.rows} filters />}
        {list.rows.length === 0 && list.live.data !== undefined && (
          <NoRows filtered={asked !== ""} more={list.more} />
        )}
        {(list.rows.length > 0 || list.more) && <ListFoot of={list} noun="row" />}
      </section>
    </Page>
  );
}

/** What the rows are, and where the rest is: an event that waits for its handler has no row yet. */
function Lede(): JSX.Element {
  const { consumers = [] } = useStatus().data ?? {};
  const waiting = consumers.reduce((sum, consumer) => sum + consumer.waiting, 0);
  return (
    <>
      What handlers of your own applications have made of events, in the transaction of their writes.
      {waiting > 0 && (
        <>
          {" "}
          <a class="link" href={hrefOf("/consumers")}>
            {count(waiting, "event")} still {waiting === 1 ? "waits" : "wait"}
          </a>
          .
        </>
      )}
    </>
  );
}

interface NoRowsProps {
  readonly filtered: boolean;
  readonly more: boolean;
}

function NoRows({ filtered, more }: NoRowsProps): JSX.Element {
  const { consumers = [], counts } = useStatus().data ?? {};
  if (filtered) return <NoneFits more={more} />;
  if (consumers.length > 0) {
    const waiting = consumers.reduce((sum, consumer) => sum + consumer.waiting, 0);
    return (
      <Empty
        icon="inbox"
        title="No handler has ended yet"
        act={
          <a class="btn primary" href={hrefOf("/consumers")}>
            Look at the {count(consumers.length, "consumer")}
          </a>
        }
      >
        A row is written together with the handler’s own writes.{" "}
        {waiting === 0 ? "Nothing waits for a handler now." : `${count(waiting, "event")} wait for one.`}
      </Empty>
    );
  }
  return (
    <Empty
      icon="inbox"
      title="No application handles events in this database"
      act={
        <a class="btn" href={hrefOf(counts === undefined ? "/" : "/events")}>
          Look at the events
        </a>
      }
    >
      A gateway passes events on to endpoints, and has no inbox. Rows come from the library: give a receiver
      and its handlers this database as their store.
    </Empty>
  );
}

function NoneFits({ more }: Pick<NoRowsProps, "more">): JSX.Element {
  return (
    <Empty
      icon="search"
      title={more ? "None of the newest rows fits" : "No row fits"}
      act={
        <a class="btn" href={hrefOf("/inbox")}>
          Show all rows
        </a>
      }
    >
      Filters are exact. An id may be its beginning, and needs its source beside it. An event that still waits
      for its handler has no row: its lane has it.
    </Empty>
  );
}
