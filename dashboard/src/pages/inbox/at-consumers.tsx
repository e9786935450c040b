import type { JSX } from "preact";
import type { Delivery } from "posthorn/client";
import { api } from "../../api/api.ts";
import { Act } from "../../parts/act.tsx";
import { ExactBody } from "../../parts/code.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Badge } from "../../parts/state.tsx";
import { consumerHref, deliveryHref, laneHref } from "../../place/links.ts";
import { hrefOf } from "../../place/location.ts";
import { perform } from "../../shell/deeds.ts";
import { count, oneLine } from "../../words/format.ts";
import { becauseWords } from "../../words/words.ts";
import { redriveOne } from "../dead/redrive-one.tsx";
import { consumerStanding } from "./standing.ts";
import type { AtConsumer } from "./standing.ts";

/** What each consumer made of an event, and what can be done there. */
export function AtConsumers({ all }: { readonly all: readonly AtConsumer[] }): JSX.Element {
  return (
    <div class={all.length === 1 ? "stack" : "cols-half"}>
      {all.map((each) => (
        <Panel
          title={oneLine(each.consumerId, 40)}
          badge={<Badge look={consumerStanding(each)} />}
          end={
            <a class="link" href={consumerHref(each.consumerId)}>
              Look at the consumer
            </a>
          }
          key={each.consumerId}
        >
          <Outcome {...each} />
          {each.delivery !== undefined && isOwn(each) && <Verb delivery={each.delivery} />}
        </Panel>
      ))}
    </div>
  );
}

/** Whether the delivery says how it stands: of an event that was handled nothing is offered. */
function isOwn({ row, delivery }: AtConsumer): boolean {
  return delivery?.state === "retrying" || (row?.outcome !== "success" && row?.outcome !== "skipped");
}

function Outcome({ row, delivery }: AtConsumer): JSX.Element {
  const attempts = Math.max(row?.attempts ?? 0, delivery?.attempts ?? 0);
  const round = row?.round ?? delivery?.round ?? 1;
  return (
    <div class="pad handled">
      <p class="small dim">
        {count(attempts, "attempt")}
        {round > 1 && `, round ${round}`}
        {delivery !== undefined && delivery.state !== "delivered" && <Where delivery={delivery} />}
      </p>
      {row !== undefined && row.error !== null && <p class="wrap">{oneLine(row.error, 600)}</p>}
      {row !== undefined && row.result !== null && (
        <>
          <span class="label">What the handler returned</span>
          <ExactBody bytes={new TextEncoder().encode(row.result)} label="What the handler returned" />
        </>
      )}
      {row !== undefined && row.result === null && row.outcome === "success" && (
        <p class="small faint">Its handler returned nothing.</p>
      )}
    </div>
  );
}

/** Its delivery and its lane. What a handler has applied has neither any more: its row is what is left. */
function Where({ delivery }: { readonly delivery: Delivery }): JSX.Element {
  const { id, laneId, sequence, state } = delivery;
  return (
    <>
      {" · "}
      <a class="link" href={deliveryHref(id)}>
        its delivery
      </a>
      {laneId !== null && (
        <>
          {" · "}
          <a class="link" href={laneHref(laneId)}>
            lane {laneId}, #{sequence}
          </a>
        </>
      )}
      {state === "dead" && (
        <>
          {" · "}
          <a class="link" href={hrefOf("/dead", { endpoint: delivery.endpointId })}>
            dead letters of {oneLine(delivery.endpointId, 30)}
          </a>
        </>
      )}
    </>
  );
}

/** What a person can do with it here, and what that will do. */
function Verb({ delivery }: { readonly delivery: Delivery }): JSX.Element | null {
  const { id, state, because, laneId, sequence } = delivery;
  if (state === "dead") {
    const name = sequence === null ? id : `#${sequence}`;
    return (
      <div class="verb">
        <Act kind="primary" icon="redrive" onAct={() => redriveOne(id, name)}>
          Redrive…
        </Act>
        <p>
          <b>Its handler runs again</b>, with all of its attempts. It was given up: {becauseWords(because)}.
          {laneId !== null && " Skip and cancel are in its lane."}
        </p>
      </div>
    );
  }
  if (state !== "retrying") return null;
  const retry = (): Promise<boolean> =>
    perform(async () =>
      (await api.deliveries.retry(id)).retried > 0
        ? "It is due now."
        : "It is under way, or has ended meanwhile.",
    );
  return (
    <div class="verb">
      <Act kind="primary" icon="redrive" onAct={retry}>
        Retry now
      </Act>
      <p>
        <b>It is due now</b> in place of at its next time. Its other attempts stay as they are.
      </p>
    </div>
  );
}
