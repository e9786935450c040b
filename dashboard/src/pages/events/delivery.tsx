import type { JSX } from "preact";
import type { Story, StoryDelivery } from "posthorn/client";
import { api } from "../../api/api.ts";
import { useLive } from "../../api/live.ts";
import { Copy } from "../../parts/act.tsx";
import { CopyAs } from "../../parts/copy-as.tsx";
import { Empty, Loaded, Page, PageHead } from "../../parts/page.tsx";
import { Pager, useWalkKeys } from "../../parts/pager.tsx";
import { Fact, Facts, Panel } from "../../parts/panel.tsx";
import { Badge } from "../../parts/state.tsx";
import { endpointHref, eventHref, laneHref } from "../../place/links.ts";
import { hrefOf, place } from "../../place/location.ts";
import { oneLine } from "../../words/format.ts";
import { deliveryLook } from "../../words/words.ts";
import { AttemptPanel } from "./attempt-panel.tsx";
import { attemptOf } from "./attempts.ts";
import { BranchTimeline } from "./branch.tsx";
import { EventBody } from "./event-body.tsx";

/** One event at one endpoint. */
export function Delivery({ id = "" }: { readonly id?: string }): JSX.Element {
  useWalkKeys();
  const story = useLive(`story of ${id}`, () => api.story(id));
  return (
    <Page
      title={`Delivery ${id}`}
      cli={[`posthorn why ${id}`, `posthorn redrive ${id}`]}
      get={[`/story/${encodeURIComponent(id)}`]}
    >
      <Loaded of={story} what={`delivery ${oneLine(id, 60)}`}>
        {(loaded) => <Found story={loaded} id={id} />}
      </Loaded>
    </Page>
  );
}

function Found({ story, id }: { readonly story: Story; readonly id: string }): JSX.Element {
  const delivery = story.deliveries.find((each) => each.id === id);
  if (delivery === undefined) {
    return (
      <Empty icon="search" title="It is not kept any more">
        Its event is:{" "}
        <a href={eventHref(story.event.id, story.event.tenant)}>{oneLine(story.event.id, 60)}</a>
      </Empty>
    );
  }
  const tried = attemptOf([delivery], place.value.query.get("attempt"));
  return (
    <>
      <PageHead
        title={oneLine(delivery.type, 100)}
        crumbs={[
          ["Events", hrefOf("/events")],
          [oneLine(delivery.endpointId, 40), endpointHref(delivery.endpointId)],
        ]}
        badge={<Badge look={deliveryLook(delivery.state)} />}
        lede={oneLine(delivery.sentence, 400)}
      >
        <Pager />
        <CopyAs id={id} get={`/story/${encodeURIComponent(id)}`} cli={`posthorn why ${id}`} />
      </PageHead>
      <DeliveryFacts delivery={delivery} />
      <div class="cols-story">
        <Panel title="Attempts" end={`round ${delivery.round}`}>
          <div class="branch-alone">
            <BranchTimeline delivery={delivery} steps={story.steps} />
          </div>
        </Panel>
        <div class="stack">
          {tried !== undefined && <AttemptPanel tried={tried} />}
          <EventBody event={story.event} repeats={story.repeats} />
        </div>
      </div>
    </>
  );
}

function DeliveryFacts({ delivery }: { readonly delivery: StoryDelivery }): JSX.Element {
  const { id, eventId, tenant, endpointId, laneId, sequence, key } = delivery;
  return (
    <Facts>
      <Fact label="Delivery" mono>
        {id}
        <Copy text={id} what="the id" />
      </Fact>
      <Fact label="Event" mono>
        <a class="link cut" href={eventHref(eventId, tenant)}>
          {oneLine(eventId, 60)}
        </a>
      </Fact>
      <Fact label="Endpoint">
        <a class="link" href={endpointHref(endpointId)}>
          {oneLine(endpointId, 40)}
        </a>
      </Fact>
      {laneId !== null && (
        <Fact label="Lane">
          <a class="link" href={laneHref(laneId)}>
            {laneId}, #{sequence}
          </a>
        </Fact>
      )}
      {key !== null && key !== "" && <Fact label="Key">{oneLine(key, 60)}</Fact>}
    </Facts>
  );
}
