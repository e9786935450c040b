import type { Consumer } from "posthorn/client";
import { count, oneLine } from "../../words/format.ts";
import { endpointLook } from "../../words/words.ts";
import type { Look } from "../../words/words.ts";

type Standing = Pick<
  Consumer,
  "state" | "hasWorker" | "waiting" | "haltedLanes" | "parkedLanes" | "retryingLanes"
>;

/** How a consumer stands, the worst first: events that wait for a worker which is not there land nowhere. */
export function consumerLook(consumer: Standing): Look {
  const { state, hasWorker, waiting, haltedLanes, parkedLanes, retryingLanes } = consumer;
  if (!hasWorker && waiting > 0) return { tone: "halted", icon: "s-failing", word: "no worker" };
  if (haltedLanes > 0)
    return { tone: "halted", icon: "s-halted", word: `${count(haltedLanes, "lane")} halted` };
  if (state !== "active") return endpointLook(state);
  if (parkedLanes > 0)
    return { tone: "paused", icon: "s-paused", word: `${count(parkedLanes, "lane")} parked` };
  if (retryingLanes > 0) return { tone: "retrying", icon: "s-failing", word: "failing" };
  if (!hasWorker) return { tone: "retrying", icon: "s-silent", word: "no worker" };
  return endpointLook("active");
}

/** The types that any version of the host handles. */
export function typesOf({ versions }: Pick<Consumer, "versions">): readonly string[] {
  return [...new Set(versions.flatMap(({ types }) => types))];
}

/** `order.paid, order.lost and 3 more`. */
export function typeWords(types: readonly string[], most = 3): string {
  if (types.includes("*")) return "everything";
  const shown = types.slice(0, most).map((type) => oneLine(type, 40));
  const rest = types.length - shown.length;
  return rest === 0 ? shown.join(", ") || "nothing" : `${shown.join(", ")} and ${rest} more`;
}
