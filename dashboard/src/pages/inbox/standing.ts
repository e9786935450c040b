import type { Delivery, InboxEvent, InboxRow } from "posthorn/client";
import { count } from "../../words/format.ts";
import { deliveryLook, inboxLook } from "../../words/words.ts";
import type { Look } from "../../words/words.ts";

/** An event of the inbox at one of its consumers: what its handler made of it, and where it waits. */
export interface AtConsumer {
  readonly consumerId: string;
  readonly row: InboxRow | undefined;
  readonly delivery: Delivery | undefined;
}

/** The event at each of its consumers, by their names. */
export function consumersOf({
  rows,
  deliveries,
}: Pick<InboxEvent, "rows" | "deliveries">): readonly AtConsumer[] {
  const ids = [
    ...new Set([
      ...rows.map(({ consumerId }) => consumerId),
      ...deliveries.map(({ endpointId }) => endpointId),
    ]),
  ];
  return ids.toSorted().map((consumerId) => ({
    consumerId,
    row: rows.find((row) => row.consumerId === consumerId),
    // The newest of several: each redrive at the end of a lane is a delivery of its own.
    delivery: deliveries.findLast(({ endpointId }) => endpointId === consumerId),
  }));
}

/** Whether what becomes of it is still open there. */
function isOpen({ state }: Delivery): boolean {
  return state === "waiting" || state === "under_way" || state === "retrying";
}

/** How it stands there. A delivery that has not ended says more than the row of an earlier round. */
export function consumerStanding({ row, delivery }: AtConsumer): Look {
  if (row === undefined) return delivery === undefined ? inboxLook("pending") : deliveryLook(delivery.state);
  return delivery !== undefined && isOpen(delivery) ? deliveryLook(delivery.state) : inboxLook(row.outcome);
}

/** How it stands at all of them together: the worst, and how many have ended well. */
export function inboxEventLook(all: readonly AtConsumer[]): Look {
  const looks = all.map((each) => consumerStanding(each));
  const done = looks.filter(({ tone }) => tone === "landed" || tone === "disabled").length;
  const of = all.length === 1 ? "" : `, handled by ${done} of ${count(all.length, "consumer")}`;
  const worst = ["dead", "halted", "retrying", "waiting", "paused"]
    .map((tone) => looks.find((look) => look.tone === tone))
    .find((look) => look !== undefined);
  if (worst !== undefined) return { ...worst, word: `${worst.word}${of}` };
  if (looks.length === 0) return { tone: "disabled", icon: "s-disabled", word: "refused" };
  const [first] = looks;
  if (looks.length === 1 && first !== undefined) return first;
  return { tone: "landed", icon: "s-landed", word: `handled by all ${all.length}` };
}
