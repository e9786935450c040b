import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { api } from "../../api/api.ts";
import { filtersIn, Filters } from "../../parts/filters.tsx";
import { FreshRows, ListFoot, useList } from "../../parts/list.tsx";
import { Empty, FailureNotice, Page, PageHead } from "../../parts/page.tsx";
import { eventHref, shellWord, walk } from "../../place/links.ts";
import { hrefOf } from "../../place/location.ts";
import { EventTable } from "./event-table.tsx";

const FILTERS = ["source", "type", "key", "tenant", "since", "until", "id"] as const;

/** Events, newest first. */
export function Events(): JSX.Element {
  const filter = filtersIn(FILTERS);
  const asked = new URLSearchParams(filter).toString();
  const list = useList(
    `events?${asked}`,
    (page) => api.events.list({ ...filter, ...page }),
    ({ id, tenant }) => `${tenant}/${id}`,
  );
  useEffect(() => {
    walk.value = list.rows.map(({ id, tenant }) => eventHref(id, tenant));
  }, [list.rows]);
  const flags = Object.entries(filter).map(([name, value]) => ` --${name} ${shellWord(value)}`);
  return (
    <Page title="Events" cli={[`posthorn events list${flags.join("")}`]} get={[`/events?${asked}`]}>
      <PageHead title="Events" lede="Everything that was taken in or published, newest first." />
      <Filters names={FILTERS} filter={filter} />
      {list.live.failure !== undefined && <FailureNotice failure={list.live.failure} />}
      <section class="panel" aria-label="Events" {...list.hold}>
        <FreshRows of={list} />
        {list.rows.length === 0 ? (
          list.live.data !== undefined && <NoEvents filtered={asked !== ""} />
        ) : (
          <EventTable rows={list.rows} filters />
        )}
        {list.rows.length > 0 && <ListFoot of={list} noun="event" />}
      </section>
    </Page>
  );
}

function NoEvents({ filtered }: { readonly filtered: boolean }): JSX.Element {
  if (filtered) {
    return (
      <Empty
        icon="search"
        title="No event fits"
        act={
          <a class="btn" href={hrefOf("/events")}>
            Show all events
          </a>
        }
      >
        Filters are exact: type:invoice.paid finds that type alone. An id may be its beginning.
      </Empty>
    );
  }
  return (
    <Empty
      icon="events"
      title="No event has come yet"
      act={
        <a class="btn primary" href={hrefOf("/start")}>
          Let the first one land
        </a>
      }
    >
      Events come from a source’s provider, or are published through the API.
    </Empty>
  );
}
