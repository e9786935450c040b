import type { JSX } from "preact";
import type { Attempt, Delivery as DeliveryRecord } from "posthorn/client";
import { api } from "../api.ts";
import { oneLine } from "../format.ts";
import { endpointHref, eventHref, laneHref } from "../links.ts";
import { useLive } from "../live.ts";
import { hrefOf } from "../location.ts";
import { Copy } from "../parts/act.tsx";
import { BranchTimeline } from "../parts/branch.tsx";
import { Loaded, Page, PageHead } from "../parts/page.tsx";
import { Fact, Facts, Panel } from "../parts/panel.tsx";
import { Badge } from "../parts/state.tsx";
import { attemptsOf } from "../story.ts";
import { answerWords, becauseWords, deliveryLook } from "../words.ts";

interface Found {
  readonly delivery: DeliveryRecord;
  readonly attempts: readonly Attempt[];
}

/** One event at one endpoint. */
export function Delivery({ id = "" }: { readonly id?: string }): JSX.Element {
  const found = useLive(`delivery ${id}`, async (): Promise<Found> => {
    const delivery = await api.deliveries.get(id);
    return { delivery, attempts: await attemptsOf(delivery) };
  });
  return (
    <Page title={`Delivery ${id}`} cli={[`posthorn deliveries show ${id}`, `posthorn redrive ${id}`]}>
      <Loaded of={found} what={`delivery ${oneLine(id, 60)}`}>
        {({ delivery, attempts }) => (
          <>
            <PageHead
              title={oneLine(delivery.type, 100)}
              crumbs={[
                ["Events", hrefOf("/events")],
                [oneLine(delivery.eventId, 40), eventHref(delivery.eventId, delivery.tenant)],
              ]}
              badge={<Badge look={deliveryLook(delivery.state)} />}
              lede={ledeOf(delivery)}
            />
            <DeliveryFacts delivery={delivery} />
            <Panel title="Attempts" end={`round ${delivery.round}`}>
              <div class="pad branch-alone">
                {attempts.length === 0 && <p class="faint small">None yet.</p>}
                <BranchTimeline delivery={delivery} attempts={attempts} />
              </div>
            </Panel>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function ledeOf({ state, because, lastStatus, lastError, attempts }: DeliveryRecord): string {
  const last = attempts === 0 ? "" : ` The last answer: ${answerWords(lastStatus, lastError)}.`;
  switch (state) {
    case "delivered":
      return `The endpoint acknowledged it.${last}`;
    case "dead":
      return `It was given up: ${becauseWords(because)}.${last}`;
    case "cancelled":
      return `It will not be sent: ${becauseWords(because)}.`;
    case "retrying":
      return `It failed, and is tried again.${last}`;
    case "under_way":
      return "An attempt is under way right now.";
    case "waiting":
      return "It has not been tried yet.";
  }
}

function DeliveryFacts({ delivery }: { readonly delivery: DeliveryRecord }): JSX.Element {
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
