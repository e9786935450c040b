import type { Delivery, DeadLetter, Endpoint, Lane } from "posthorn/client";
import { count, duration, grouped } from "./format.ts";
import { deadReason, needsPerson } from "./words.ts";
import type { Look } from "./words.ts";

const isState =
  (state: Delivery["state"]) =>
  (delivery: Pick<Delivery, "state">): boolean =>
    delivery.state === state;

/** How an event stands at all of its endpoints together. */
export function eventLook(deliveries: readonly Pick<Delivery, "state" | "endpointId">[]): Look {
  const total = deliveries.length;
  const landed = deliveries.filter(isState("delivered")).length;
  const dead = deliveries.filter(isState("dead"));
  const cancelled = deliveries.filter(isState("cancelled")).length;
  const of = total === 1 ? "" : ` at ${landed} of ${total} endpoints`;
  if (total === 0) return { tone: "disabled", icon: "s-silent", word: "no endpoint takes it" };
  if (dead.length > 0) {
    const where = dead.length === 1 ? dead[0]?.endpointId : count(dead.length, "endpoint");
    const before = landed === 0 ? "" : `landed${of}, `;
    return { tone: "dead", icon: "s-dead", word: total === 1 ? "dead" : `${before}dead at ${where}` };
  }
  if (landed === total)
    return { tone: "landed", icon: "s-landed", word: total === 1 ? "landed" : `landed at all ${total}` };
  if (deliveries.some(isState("retrying")))
    return { tone: "retrying", icon: "s-retrying", word: `retrying, landed${of || " nowhere yet"}` };
  if (landed + cancelled === total)
    return { tone: "disabled", icon: "s-disabled", word: landed === 0 ? "cancelled" : `landed${of}` };
  return { tone: "waiting", icon: "s-waiting", word: landed === 0 ? "waiting" : `landed${of}` };
}

/** The one sentence of the overview. */
export interface Verdict {
  readonly tone: Look["tone"];
  readonly icon: string;
  readonly title: string;
  readonly more: string;
  readonly act?: { readonly label: string; readonly path: string };
}

export interface Situation {
  readonly lanes: readonly Lane[];
  readonly moreLanes: boolean;
  readonly endpoints: readonly Endpoint[];
  readonly dead: readonly DeadLetter[];
}

/** Says what is wrong, the worst first, or that nothing is. */
export function verdictOf(situation: Situation): Verdict {
  return (
    haltedVerdict(situation) ??
    disabledVerdict(situation) ??
    retryingVerdict(situation) ??
    calmVerdict(situation)
  );
}

function haltedVerdict({ lanes, moreLanes, dead }: Situation): Verdict | undefined {
  const halted = lanes.filter((lane) => needsPerson(lane));
  if (halted.length === 0) return undefined;
  const behind = halted.reduce((sum, { depth }) => sum + BigInt(depth) - 1n, 0n);
  const oldest = Math.max(...halted.map(({ blockedMs }) => blockedMs ?? 0));
  const reasons = new Set(
    dead.filter(({ blocks }) => blocks).map((letter) => `${letter.endpointId} ${deadReason(letter)}`),
  );
  const least = moreLanes && halted.length === lanes.length ? "At least " : "";
  const are = halted.length === 1 ? "is" : "are";
  const waits =
    behind === 0n
      ? "nothing waits behind"
      : `${count(behind, "event")} ${behind === 1n ? "waits" : "wait"} behind`;
  const [only] = reasons;
  return {
    tone: "halted",
    icon: "s-halted",
    title: `${least}${count(halted.length, "lane")} ${are} halted; ${waits} ${halted.length === 1 ? "it" : "them"}.`,
    more: `The oldest has waited for ${duration(oldest)}.${reasons.size === 1 ? ` All stopped for the same reason: ${only}.` : ""}`,
    act: {
      label: halted.length === 1 ? "Look at the lane" : `Look at the ${halted.length} lanes`,
      path: pathOf(halted),
    },
  };
}

function pathOf(lanes: readonly Lane[]): string {
  return lanes.length === 1 ? `/lanes/${lanes[0]?.id}` : "/lanes";
}

function disabledVerdict({ endpoints }: Situation): Verdict | undefined {
  const disabled = endpoints.filter(({ state }) => state === "disabled");
  if (disabled.length === 0) return undefined;
  const one = disabled.length === 1;
  return {
    tone: "disabled",
    icon: "s-disabled",
    title: one
      ? `${disabled[0]?.id} is disabled; its events wait.`
      : `${disabled.length} endpoints are disabled; their events wait.`,
    more: one
      ? `Because ${disabled[0]?.because ?? "of a reason that is not known"}.`
      : "They get nothing until you enable them.",
    act: { label: "Look at it", path: one ? `/endpoints/${disabled[0]?.id}` : "/endpoints" },
  };
}

function retryingVerdict({ lanes }: Situation): Verdict | undefined {
  const retrying = lanes.filter(({ state }) => state === "retrying");
  if (retrying.length === 0) return undefined;
  const waiting = retrying.reduce((sum, { depth }) => sum + BigInt(depth), 0n);
  return {
    tone: "retrying",
    icon: "s-retrying",
    title: `Nothing is stuck; ${count(retrying.length, "lane")} ${retrying.length === 1 ? "is" : "are"} retrying.`,
    more: `${grouped(waiting)} ${waiting === 1n ? "delivery waits" : "deliveries wait"} in ${retrying.length === 1 ? "it" : "them"}. They go on by themselves once their endpoint answers.`,
    act: { label: "Look at lanes", path: "/lanes" },
  };
}

function calmVerdict({ lanes, dead }: Situation): Verdict {
  const waiting = lanes.reduce((sum, { depth }) => sum + BigInt(depth), 0n);
  const after =
    dead.length === 0
      ? "No delivery was given up."
      : "There are dead letters whose lanes went on without them.";
  return {
    tone: "landed",
    icon: "s-landed",
    title: "Nothing is stuck.",
    more: `${waiting === 0n ? "Every lane is empty." : `${count(waiting, "delivery")} on the way.`} ${after}`,
  };
}
