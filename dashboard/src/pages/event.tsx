import type { JSX } from "preact";
import type { EventDetail } from "posthorn/client";
import { api } from "../api.ts";
import { copy } from "../deeds.ts";
import { byteSize, oneLine } from "../format.ts";
import { eventHref, shellWord, sourceHref } from "../links.ts";
import { useLive } from "../live.ts";
import { hrefOf, place } from "../location.ts";
import { Act, Copy } from "../parts/act.tsx";
import { Waterfall } from "../parts/waterfall.tsx";
import { Branch } from "../parts/branch.tsx";
import { EventBody } from "../parts/event-body.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loaded, Page, PageHead } from "../parts/page.tsx";
import { Pager, useWalkKeys } from "../parts/pager.tsx";
import { Fact, Facts, Panel } from "../parts/panel.tsx";
import { Badge } from "../parts/state.tsx";
import { Ago, Clock } from "../parts/time.tsx";
import { loadStory } from "../story.ts";
import type { Story } from "../story.ts";
import { eventLook } from "../verdicts.ts";
import { EventTable } from "./events.tsx";

/** One event: what it is, where it went, and what came of each attempt. */
export function Event({ id = "" }: { readonly id?: string }): JSX.Element {
  useWalkKeys();
  const tenant = place.value.query.get("tenant") ?? "default";
  const story = useLive(`story ${tenant} ${id}`, () => loadStory(id, tenant));
  const flag = tenant === "default" ? "" : ` --tenant ${shellWord(tenant)}`;
  const word = shellWord(id);
  return (
    <Page
      title={story.data?.event.type ?? "Event"}
      cli={[`posthorn events show ${word}${flag}`, `posthorn events body ${word}${flag}`]}
    >
      <Loaded of={story} what={`event ${oneLine(id, 60)}`}>
        {(loaded) => <EventStory story={loaded} />}
      </Loaded>
    </Page>
  );
}

function EventStory({ story }: { readonly story: Story }): JSX.Element {
  const { event, attempts } = story;
  const { type, source } = event;
  const few = event.deliveries.length <= 3;
  return (
    <>
      <PageHead
        title={oneLine(type, 120)}
        crumbs={[
          ["Events", hrefOf("/events")],
          [oneLine(source, 40), hrefOf("/events", { source })],
        ]}
        badge={<Badge look={eventLook(event.deliveries)} />}
      >
        <Pager />
        <Act icon="copy" harmless onAct={() => copy(location.href, "the link")}>
          Copy link
        </Act>
      </PageHead>
      <EventFacts event={event} />
      <div class="cols-story">
        <section class="panel" aria-label="Story">
          <header>
            <h2>Story</h2>
            <span class="end">
              <Ago at={event.time} />
            </span>
          </header>
          <StoryTop event={event} />
          {event.deliveries.map((delivery) => (
            <Branch
              key={delivery.id}
              delivery={delivery}
              attempts={attempts.get(delivery.id) ?? []}
              open={few || delivery.state !== "delivered"}
            />
          ))}
          {event.deliveries.length === 0 && <Untaken />}
        </section>
        <div class="stack">
          <EventBody event={event} />
          <Waterfall story={story} />
          {event.key !== null && <SameKey event={event} eventKey={event.key} />}
        </div>
      </div>
    </>
  );
}

function EventFacts({ event }: { readonly event: EventDetail }): JSX.Element {
  const { id, key, time, tenant, bodyBytes, deliverAt, expiresAt } = event;
  return (
    <Facts>
      <Fact label="Event" mono>
        <span class="cut">{oneLine(id)}</span>
        <Copy text={id} what="the id" />
      </Fact>
      <Fact label="Key">
        {key === null ? (
          <span class="faint">none, so it has no order</span>
        ) : (
          <a class="link cut" href={hrefOf("/events", { key })}>
            {oneLine(key, 60)}
          </a>
        )}
      </Fact>
      <Fact label="Happened">
        <Clock at={time} />
      </Fact>
      <Fact label="Body">{byteSize(bodyBytes)}</Fact>
      {tenant !== "default" && <Fact label="Tenant">{oneLine(tenant, 40)}</Fact>}
      {deliverAt !== null && (
        <Fact label="Not before">
          <Clock at={deliverAt} />
        </Fact>
      )}
      {expiresAt !== null && (
        <Fact label="Not after">
          <Clock at={expiresAt} />
        </Fact>
      )}
    </Facts>
  );
}

function StoryTop({ event }: { readonly event: EventDetail }): JSX.Element {
  return (
    <div class="pad story-top">
      <ol class="timeline">
        <li class="end">
          <span class="dot">
            <Icon name="stored" />
          </span>
          <span class="what">
            <b>Stored</b>, from{" "}
            <a class="link" href={sourceHref(event.source)}>
              {oneLine(event.source, 40)}
            </a>
            <span class="note">
              {event.deliveries.length === 0 ? "" : placesWords(event.deliveries.length)}
            </span>
          </span>
          <Clock at={event.time} />
        </li>
      </ol>
    </div>
  );
}

function placesWords(n: number): string {
  return n === 1 ? "one endpoint takes it" : `${n} endpoints take it`;
}

function Untaken(): JSX.Element {
  return (
    <p class="pad-note small dim">
      No endpoint takes it: none has patterns that fit its source and type, or it was stored before they were
      added.{" "}
      <a class="link" href={hrefOf("/endpoints")}>
        Look at the endpoints
      </a>
    </p>
  );
}

/** The newest events of the same key: its neighbours in the lane. */
function SameKey({
  event,
  eventKey,
}: {
  readonly event: EventDetail;
  readonly eventKey: string;
}): JSX.Element | null {
  const { tenant } = event;
  const near = useLive(`key ${tenant} ${eventKey}`, () =>
    api.events.list({ tenant, key: eventKey, limit: 6 }),
  );
  const rows = near.data?.items ?? [];
  if (rows.length < 2) return null;
  const own = eventHref(event.id, tenant);
  return (
    <Panel
      title="Newest of the same key"
      end={
        <a class="link" href={hrefOf("/events", { key: eventKey })}>
          All of {oneLine(eventKey, 24)}
        </a>
      }
    >
      <EventTable rows={rows.filter((row) => eventHref(row.id, row.tenant) !== own)} />
    </Panel>
  );
}
