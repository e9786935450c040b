import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { EventSummary } from "posthorn/client";
import { api } from "../api.ts";
import { byteSize, oneLine, shortId } from "../format.ts";
import { eventHref, shellWord, sourceHref, walk } from "../links.ts";
import { hrefOf, place, setQuery } from "../location.ts";
import { CellFilter, Chip, FreshRows, ListFoot, useList } from "../parts/list.tsx";
import { Empty, FailureNotice, Page, PageHead } from "../parts/page.tsx";
import { Ago } from "../parts/time.tsx";

export const EVENT_FILTERS = ["source", "type", "key", "tenant"] as const;

/** Events, newest first. */
export function Events(): JSX.Element {
  const filter = Object.fromEntries(
    EVENT_FILTERS.flatMap((name) => {
      const value = place.value.query.get(name);
      return value === null || value === "" ? [] : [[name, value]];
    }),
  );
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
    <Page title="Events" cli={[`posthorn events list${flags.join("")}`]}>
      <PageHead title="Events" lede="Everything that was taken in or published, newest first." />
      <Filters filter={filter} />
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

function submit(event: SubmitEvent): void {
  event.preventDefault();
  const form = event.currentTarget as HTMLFormElement;
  const name = form.querySelector("select")?.value ?? "";
  setQuery({ [name]: form.querySelector("input")?.value.trim() });
  form.reset();
}

function Filters({ filter }: { readonly filter: Readonly<Record<string, string>> }): JSX.Element {
  return (
    <div class="toolbar">
      {Object.entries(filter).map(([name, value]) => (
        <Chip name={name} value={oneLine(value, 60)} key={name} />
      ))}
      <form class="filter" onSubmit={submit}>
        <select class="input" name="name" aria-label="Filter by">
          {EVENT_FILTERS.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <input
          class="input"
          name="value"
          required
          aria-label="Value"
          placeholder="exactly"
          autoComplete="off"
        />
        <button class="btn" type="submit">
          Filter
        </button>
      </form>
    </div>
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
        Filters are exact: type:invoice.paid finds that type alone.
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
  const { id, tenant, type, source, key, bodyBytes, time } = event;
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
        <Ago at={time} />
      </td>
    </tr>
  );
}
