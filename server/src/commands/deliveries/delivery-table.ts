import type { Delivery } from "posthorn/client";
import type { Tone } from "../../terminal/colour.js";
import { due } from "../../terminal/for-people.js";
import type { Table } from "../../terminal/table.js";

const TONES: Readonly<Record<Delivery["state"], Tone>> = {
  waiting: "plain",
  under_way: "name",
  retrying: "warn",
  delivered: "good",
  dead: "bad",
  cancelled: "faint",
};

/** The tone of a state; plain where a newer server knows one that we do not. */
export function stateTone(state: string): Tone {
  return Object.hasOwn(TONES, state) ? TONES[state as Delivery["state"]] : "plain";
}

/** Of an event without deliveries nobody can say more without asking the nodes. */
export const NO_DELIVERIES =
  "It has no deliveries. Either no endpoint matches it (`posthorn endpoint list`), or no node with the role dispatch " +
  "has taken it yet (`posthorn doctor`).";

export function deliveryTable(deliveries: readonly Delivery[]): Table {
  return {
    columns: [
      { title: "DELIVERY" },
      { title: "ENDPOINT", least: 10 },
      { title: "STATE" },
      { title: "ATTEMPTS", align: "right" },
      { title: "LAST ANSWER", least: 6 },
      { title: "DUE", least: 5 },
    ],
    rows: deliveries.map((delivery) => [
      { text: delivery.id, tone: "name" },
      delivery.endpointId,
      { text: delivery.state, tone: stateTone(delivery.state) },
      delivery.attempts,
      lastAnswer(delivery),
      due(delivery.dueInMs),
    ]),
  };
}

/** The status of the last answer, or what went wrong instead of one. */
export function lastAnswer(of: {
  readonly lastStatus: number | null;
  readonly lastError: string | null;
}): string {
  return of.lastStatus === null ? (of.lastError ?? "–") : String(of.lastStatus);
}
