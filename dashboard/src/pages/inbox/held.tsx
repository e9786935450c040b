import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { HeldEvent } from "posthorn/client";
import { api } from "../../api/api.ts";
import { Act } from "../../parts/act.tsx";
import { Filters, filtersIn } from "../../parts/filters.tsx";
import { Shape } from "../../parts/icon.tsx";
import { CellFilter, FreshRows, ListFoot, useList } from "../../parts/list.tsx";
import { Empty, FailureNotice, Page, PageHead } from "../../parts/page.tsx";
import { State } from "../../parts/state.tsx";
import { Age, Ago } from "../../parts/time.tsx";
import { consumerHref, eventHref, shellWord, walk } from "../../place/links.ts";
import { oneLine } from "../../words/format.ts";
import { InboxTabs } from "./inbox-tabs.tsx";
import { rangeWords, releaseHeld } from "./release.tsx";

const FILTERS = ["source", "key", "tenant"] as const;

/** Events that wait for others of their key. */
export function Held(): JSX.Element {
  const filter = filtersIn(FILTERS);
  const asked = new URLSearchParams(filter).toString();
  const list = useList(
    `held?${asked}`,
    (page) => api.inbox.held({ ...filter, ...page }),
    ({ tenant, id }) => `${tenant} ${id}`,
  );
  useEffect(() => {
    walk.value = list.rows.map(({ id, tenant }) => eventHref(id, tenant));
  }, [list.rows]);
  const flags = Object.entries(filter).map(([name, value]) => ` --${name} ${shellWord(value)}`);
  return (
    <Page
      title="Held events"
      cli={[`posthorn inbox held${flags.join("")}`, "posthorn inbox release EVENT"]}
      get={[`/held?${asked}`]}
    >
      <PageHead
        title="Inbox"
        lede="Events that came before their turn: others of their key are missing before them. They go on by themselves when those come, or when their time is up."
      />
      <InboxTabs />
      <Filters names={FILTERS} filter={filter} />
      {list.live.failure !== undefined && <FailureNotice failure={list.live.failure} />}
      <section class="panel" aria-label="Held events" {...list.hold}>
        <FreshRows of={list} />
        {list.rows.length > 0 && <HeldTable events={list.rows} />}
        {list.rows.length > 0 && <ListFoot of={list} noun="event" head="first" />}
        {list.rows.length === 0 && list.live.data !== undefined && (
          <Empty icon="check" title="Nothing is held">
            A source holds only where its receiver says so (order: hold). What was given up stands in the
            story of the event that waited.
          </Empty>
        )}
      </section>
    </Page>
  );
}

function HeldTable({ events }: { readonly events: readonly HeldEvent[] }): JSX.Element {
  return (
    <div class="table-wrap">
      <table class="table">
        <thead>
          <tr>
            <th>Event</th>
            <th>Missing</th>
            <th class="hide-m">Consumers</th>
            <th class="num hide-s">Held for</th>
            <th class="num hide-s">At the latest</th>
            <th class="num">
              <span class="sr">What you can do</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {events.map((event) => (
            <HeldRow event={event} key={`${event.tenant} ${event.id}`} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function HeldRow({ event }: { readonly event: HeldEvent }): JSX.Element {
  const { id, tenant, type, source, key, sequence, missing, consumerIds, heldSince, heldUntil } = event;
  return (
    <tr data-row class="tall">
      <td>
        <a class="main-cell" href={eventHref(id, tenant)} data-open>
          {oneLine(type, 60)}
        </a>
        <span class="sub">
          <CellFilter name="key" value={key}>
            {sequence} of {oneLine(key, 40)}
          </CellFilter>
          , {oneLine(source, 30)}
        </span>
      </td>
      <td>
        {missing === null ? (
          <span class="dim">others are held before it</span>
        ) : (
          <State look={{ tone: "retrying", icon: "s-silent", word: rangeWords(missing) }} />
        )}
      </td>
      <td class="dim hide-m">
        {consumerIds.slice(0, 3).map((consumerId) => (
          <a class="link" href={consumerHref(consumerId)} key={consumerId}>
            {oneLine(consumerId, 30)}{" "}
          </a>
        ))}
        {consumerIds.length > 3 && `and ${consumerIds.length - 3} more`}
      </td>
      <td class="num dim nowrap hide-s">{heldSince === null ? "–" : <Age at={heldSince} />}</td>
      <td class="num dim nowrap hide-s">{heldUntil === null ? "–" : <Ago at={heldUntil} />}</td>
      <td class="num">
        <Act small icon="play" onAct={() => releaseHeld(event)}>
          Release…
        </Act>
      </td>
    </tr>
  );
}

/** What an event waits for in the sequence of its key, and how to let it go; or what was decided of it. */
export function HeldNotice({ held }: { readonly held: HeldEvent }): JSX.Element | null {
  const { heldSince, sentence, gap, late } = held;
  if (heldSince === null && gap === null && !late) return null;
  return (
    <div class={`notice ${heldSince === null ? "s-retrying" : "s-paused"}`}>
      <Shape name={heldSince === null ? "s-failing" : "s-paused"} />
      <div>
        <b>{heldSince === null ? (late ? "Late." : "A gap before it was given up.") : "Held."}</b>{" "}
        {oneLine(sentence, 300)}
        {heldSince !== null && (
          <p class="notice-act">
            <Act small icon="play" onAct={() => releaseHeld(held)}>
              Release…
            </Act>
          </p>
        )}
      </div>
    </div>
  );
}
