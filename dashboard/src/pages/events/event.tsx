import type { JSX } from "preact";
import type { EventDetail, Story } from "posthorn/client";
import { api } from "../../api/api.ts";
import { useLive } from "../../api/live.ts";
import { Copy } from "../../parts/act.tsx";
import { CopyAs } from "../../parts/copy-as.tsx";
import { Loaded, Page, PageHead } from "../../parts/page.tsx";
import { Pager, useWalkKeys } from "../../parts/pager.tsx";
import { Fact, Facts, Panel } from "../../parts/panel.tsx";
import { Badge } from "../../parts/state.tsx";
import { Ago, Clock } from "../../parts/time.tsx";
import { eventHref, shellWord } from "../../place/links.ts";
import { hrefOf, place } from "../../place/location.ts";
import { byteSize, duration, oneLine } from "../../words/format.ts";
import { inboxLook } from "../../words/words.ts";
import { HeldNotice } from "../inbox/held.tsx";
import { AttemptPanel } from "./attempt-panel.tsx";
import { attemptName, attemptOf } from "./attempts.ts";
import { Branch } from "./branch.tsx";
import { EventBody } from "./event-body.tsx";
import { eventLook } from "./event-look.ts";
import { EventTable } from "./event-table.tsx";
import { StoryTop } from "./story-top.tsx";
import { Waterfall } from "./waterfall.tsx";

/** One event: what it is, where it went, and what came of each attempt. */
export function Event({ id = "" }: { readonly id?: string }): JSX.Element {
  useWalkKeys();
  const tenant = place.value.query.get("tenant") ?? "default";
  const story = useLive(`story ${tenant} ${id}`, () => api.story(id, { tenant }));
  const flag = tenant === "default" ? "" : ` --tenant ${shellWord(tenant)}`;
  const word = shellWord(id);
  return (
    <Page
      title={story.data?.event.type ?? "Event"}
      cli={[`posthorn why ${word}${flag}`, `posthorn events body ${word}${flag}`]}
      get={[`/story/${encodeURIComponent(id)}?tenant=${encodeURIComponent(tenant)}`]}
    >
      <Loaded of={story} what={`event ${oneLine(id, 60)}`}>
        {(loaded) => <EventStory story={loaded} />}
      </Loaded>
    </Page>
  );
}

function EventStory({ story }: { readonly story: Story }): JSX.Element {
  const { event, deliveries, steps } = story;
  const { type, source, key } = event;
  // A server of another version may not say it.
  const { held = null } = story as Partial<Story>;
  const isHeld = held !== null && held.heldSince !== null;
  const few = deliveries.length <= 3;
  const tried = attemptOf(deliveries, place.value.query.get("attempt"));
  return (
    <>
      <PageHead
        title={oneLine(type, 120)}
        crumbs={[
          ["Events", hrefOf("/events")],
          [oneLine(source, 40), hrefOf("/events", { source })],
        ]}
        badge={<Badge look={isHeld ? inboxLook("held") : eventLook(deliveries)} />}
      >
        <Pager />
        <CopyAs
          id={event.id}
          get={`/story/${encodeURIComponent(event.id)}`}
          cli={`posthorn why ${shellWord(event.id)}`}
        />
      </PageHead>
      <EventFacts story={story} />
      {held !== null && <HeldNotice held={held} />}
      <div class="cols-story">
        <section class="panel" aria-label="Story">
          <header>
            <h2>Story</h2>
            <span class="end">
              <Ago at={event.writtenAt} />
            </span>
          </header>
          <StoryTop story={story} />
          {deliveries.map((delivery) => (
            <Branch
              key={delivery.id}
              delivery={delivery}
              steps={steps}
              open={few || delivery.state !== "delivered"}
            />
          ))}
          {deliveries.length === 0 && !isHeld && <Untaken />}
        </section>
        <div class="stack">
          <EventBody event={event} repeats={story.repeats} />
          <Waterfall
            deliveries={deliveries}
            chosen={tried === undefined ? undefined : attemptName(tried.delivery, tried.attempt)}
          />
          {tried !== undefined && <AttemptPanel tried={tried} />}
          {key !== null && <SameKey event={event} eventKey={key} />}
        </div>
      </div>
    </>
  );
}

/** From stored to the first acknowledgement. */
function firstLanded({ event, deliveries }: Story): string | undefined {
  const ends = deliveries.flatMap(({ tried }) =>
    tried
      .filter(({ outcome }) => outcome === "acknowledged")
      .map(({ startedAt, durationMs }) => Date.parse(startedAt) + durationMs),
  );
  if (ends.length === 0) return undefined;
  return duration(Math.max(0, Math.min(...ends) - Date.parse(event.writtenAt)));
}

function EventFacts({ story }: { readonly story: Story }): JSX.Element {
  const { id, key, time, tenant, bodyBytes, deliverAt, expiresAt, providerId } = story.event;
  const landed = firstLanded(story);
  return (
    <Facts>
      <Fact label="Event" mono>
        <span class="cut">{oneLine(id)}</span>
        <Copy text={id} what="the id" />
      </Fact>
      {providerId !== null && providerId !== id && (
        <Fact label="Provider’s id" mono>
          <span class="cut">{oneLine(providerId)}</span>
          <Copy text={providerId} what="the provider’s id" />
        </Fact>
      )}
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
      {landed !== undefined && <Fact label="First landed after">{landed}</Fact>}
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

interface SameKeyProps {
  readonly event: EventDetail;
  readonly eventKey: string;
}

/** The newest events of the same key: its neighbours in the lane. */
function SameKey({ event, eventKey }: SameKeyProps): JSX.Element | null {
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
