import type {
  DeadLetter,
  OperationNext,
  OperationPlan,
  OperationVerb,
  OperationWarning,
} from "posthorn/client";

/** What was found of what an operation would touch. */
export interface PlanFacts {
  readonly verb: OperationVerb;
  readonly count: number;
  readonly more: boolean;
  readonly lanes: number;
  /** How many lanes stand still behind what is meant. */
  readonly blocking: number;
  readonly waitingBehind: number;
  readonly endpoints: OperationPlan["endpoints"];
  readonly oldest: DeadLetter | undefined;
  readonly newest: DeadLetter | undefined;
  readonly sample: readonly DeadLetter[];
  readonly next: readonly OperationNext[];
  /** How many died longer ago than receivers are bound to remember ids. */
  readonly forgotten: number;
  /** How many named heads a worker has under way. */
  readonly underWay: number;
}

/** How long a receiver remembers ids at least; ours does for 14 days, many for no more than a day. */
export const REMEMBERED_MS = 24 * 3_600_000;

/** How many items one operation takes. */
export const MOST_ITEMS = 100_000;

/** The plan in words, and what to know before it is run. */
export function planOf(facts: PlanFacts): OperationPlan {
  const { count, more, lanes, waitingBehind, endpoints, oldest, newest, sample, next } = facts;
  return {
    words: wordsOf(facts),
    count,
    more,
    lanes,
    waitingBehind,
    endpoints,
    oldest: oldest ?? null,
    newest: newest ?? null,
    sample,
    next,
    warnings: warningsOf(facts),
  };
}

function wordsOf({ verb, count, lanes, endpoints }: PlanFacts): string {
  const to =
    endpoints.length > 3 ? `${endpoints.length} endpoints` : endpoints.map(({ id }) => id).join(", ");
  if (count === 0) return "Nothing matches: nothing would be done.";
  const inLanes = lanes === 0 ? "" : ` of ${several(lanes, "lane")}`;
  switch (verb) {
    case "redrive":
      return `Redrive ${several(count, "delivery")}${inLanes} to ${to}, in order.`;
    case "skip":
      return `Skip the head${inLanes} to ${to}: ${count === 1 ? "it" : "they"} will not be sent, and the receiver is told of the gap.`;
    case "replay":
      return `Replay ${events(count)} at ${to}: each is handled once more, in a new round; where a consumer drops what is stale, only the newest of each resource.`;
    case "cancel":
      return `Cancel ${several(count, "delivery")} that wait${count === 1 ? "s" : ""} in ${several(lanes, "lane")} to ${to}: none of it will be sent.`;
  }
}

function events(count: number): string {
  return `${count.toLocaleString("en")} ${count === 1 ? "event" : "events"}`;
}

function several(count: number, noun: "delivery" | "lane"): string {
  const plural = noun === "delivery" ? "deliveries" : "lanes";
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}

function warningsOf(facts: PlanFacts): readonly OperationWarning[] {
  const { verb, count, more, blocking, waitingBehind, endpoints, forgotten, underWay } = facts;
  const stopped = endpoints.filter(({ state }) => state !== "active");
  const warnings: (OperationWarning | undefined)[] = [
    when(count === 0, "nothing_matches", null, "Nothing matches the filter."),
    when(
      more,
      "more_match",
      count,
      `More match than one operation takes: it takes the oldest ${count.toLocaleString("en")}. Run another one for the rest.`,
    ),
    when(
      verb === "redrive" && forgotten > 0,
      "forgotten_ids",
      forgotten,
      `${several(forgotten, "delivery")} died more than 24 hours ago: the receiver may have forgotten ${forgotten === 1 ? "its id" : "their ids"}, and take what it has for new.`,
    ),
    when(
      verb === "replay" && forgotten > 0,
      "forgotten_ids",
      forgotten,
      `${events(forgotten)} came more than 24 hours ago: remote services may have forgotten the idempotency keys of what handlers ask of them.`,
    ),
    ...stopped.map(({ id, state, count: there }) =>
      when(true, "endpoint_stopped", there, `${id} is ${state}: nothing is sent to it until it is resumed.`),
    ),
    when(
      blocking > 0 && waitingBehind > 0,
      "lanes_go_on",
      waitingBehind,
      `${several(blocking, "lane")} will go on, and ${several(waitingBehind, "delivery")} that wait${waitingBehind === 1 ? "s" : ""} behind will be sent after ${blocking === 1 ? "it" : "them"}.`,
    ),
    when(
      underWay > 0,
      "under_way",
      underWay,
      `A worker has the head of ${several(underWay, "lane")} under way: it counts if it succeeds.`,
    ),
    when(verb !== "redrive" && count > 0, "cannot_be_undone", null, UNDONE[verb]),
  ];
  return warnings.filter((warning) => warning !== undefined);
}

const UNDONE: Readonly<Record<OperationVerb, string>> = {
  redrive: "",
  skip: "A skip cannot be undone.",
  cancel: "A cancellation cannot be undone.",
  replay: "A replay cannot be undone: what handlers do is done once more.",
};

function when(
  holds: boolean,
  code: OperationWarning["code"],
  count: number | null,
  text: string,
): OperationWarning | undefined {
  return holds ? { code, text, count } : undefined;
}

/** Why a plan does not hold any more; undefined where it does. A difference of up to 1 % is what passes in the meantime. */
export function whyChanged(planned: number, now: number): string | undefined {
  if (Math.abs(now - planned) <= planned / 100) return undefined;
  return `${several(planned, "delivery")} matched when it was planned, and ${several(now, "delivery")} do now.`;
}
