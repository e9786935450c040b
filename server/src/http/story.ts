import type { Endpoint } from "posthorn";
import type { HeldEvent, Repeat, Step, StoryDelivery } from "posthorn/client";
import { isHandlerId } from "posthorn/gateway";
import type { StoredEvent } from "posthorn/operator";
import type { Deed } from "./deeds.js";
import { count, duration } from "../terminal/for-people.js";

interface StoryFacts {
  readonly event: StoredEvent;
  readonly repeats: readonly Repeat[];
  readonly deliveries: readonly StoryDelivery[];
  readonly held: HeldEvent | undefined;
  /** Of these deliveries, by id. */
  readonly endpoints: ReadonlyMap<string, Pick<Endpoint, "state">>;
  readonly deeds: readonly Deed[];
  readonly nowMs: number;
}

interface Draft {
  readonly step: Pick<Step, "kind" | "text"> & Partial<Step>;
  /** By which it is sorted; of a step whose time is not known, a guess. */
  readonly sortMs: number;
}

/** Everything that happened to an event, in the order of time; what is still to come stands last. Pure. */
export function stepsOf(facts: StoryFacts): readonly Step[] {
  const drafts = [
    ...beginning(facts.event),
    ...facts.repeats.map(repeatStep),
    ...heldSteps(facts),
    ...facts.deliveries.flatMap((delivery) => deliverySteps(delivery, facts)),
    ...facts.deeds.filter(({ eventId }) => eventId !== undefined).map(eventDeed),
  ];
  // Stable: steps of one millisecond stay in the order in which they are written here.
  const sorted = drafts.toSorted(
    (one, other) =>
      Number(one.step.future ?? false) - Number(other.step.future ?? false) || one.sortMs - other.sortMs,
  );
  let before: number | undefined;
  return sorted.map(({ step }) => {
    const atMs = step.at === undefined || step.at === null ? undefined : Date.parse(step.at);
    const afterMs = atMs === undefined || before === undefined ? null : Math.max(0, atMs - before);
    before = atMs ?? before;
    return Object.assign({}, BLANK, step, { afterMs });
  });
}

const BLANK: Omit<Step, "kind" | "text"> = {
  at: null,
  afterMs: null,
  future: false,
  endpointId: null,
  deliveryId: null,
  round: null,
  attempt: null,
  outcome: null,
  status: null,
  durationMs: null,
  by: null,
  note: null,
  operationId: null,
};

/** A step whose time is known. */
function at(instant: string, step: Draft["step"]): Draft {
  return { step: { at: instant, ...step }, sortMs: Date.parse(instant) };
}

function beginning({ direction, source, writtenAt, verifiedBy }: StoredEvent): readonly Draft[] {
  const written = writtenAt.toISOString();
  if (direction === "out") return [at(written, { kind: "published", text: `published as ${source}` })];
  const verified =
    verifiedBy === undefined ? "not verified: nobody signs this source" : `verified by ${verifiedBy}`;
  return [
    at(written, { kind: "received", text: `received from ${source}` }),
    at(written, { kind: "verified", text: verified }),
    at(written, { kind: "stored", text: "stored" }),
  ];
}

function repeatStep({ kind, receipts, firstAt, lastAt, body }: Repeat): Draft {
  const times = receipts === 1 ? "" : `, ${receipts} times until ${lastAt}`;
  const what = kind === "conflict" ? "conflict: other bytes under the same name" : "duplicate";
  const bytes = kind === "duplicate" ? (body === null ? " (same bytes)" : " (other bytes)") : "";
  return at(firstAt, { kind, text: `${what}${bytes}${times}` });
}

/** What it waits for in the sequence of its key, or what was decided of it. */
function heldSteps(facts: StoryFacts): readonly Draft[] {
  const { held, nowMs } = facts;
  if (held === undefined) return [];
  const { heldSince, heldUntil, sentence, gap, late, sequence, key } = held;
  // Nobody writes down when it was decided; its places follow within moments.
  if (heldSince === null || heldUntil === null)
    return gap === null && !late
      ? []
      : [{ step: { kind: "decided", text: lower(sentence) }, sortMs: turnMs(facts) }];
  const end = { ...BLANK, kind: "waiting", text: lower(sentence), future: true, at: heldUntil } as const;
  return [
    at(heldSince, { kind: "held", text: `held: ${sequence} of ${key} has come before its turn` }),
    { step: end, sortMs: nowMs },
  ];
}

/** When its turn came, as far as anybody knows: at once, or behind the deed that released it. */
function turnMs({ event, deeds }: StoryFacts): number {
  const released = deeds.flatMap((deed) => (deed.eventId === undefined ? [] : [Date.parse(deed.at) + 0.5]));
  return Math.max(event.writtenAt.getTime(), ...released);
}

function lower(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, "");
}

type About = Pick<Step, "endpointId" | "deliveryId">;

function deliverySteps(delivery: StoryDelivery, facts: StoryFacts): readonly Draft[] {
  const { id, endpointId, laneId, sequence, tried, ends } = delivery;
  const about: About = { endpointId, deliveryId: id };
  const place = laneId === null ? "without a lane" : `in lane ${laneId} at #${sequence}`;
  const text = `placed for ${endpointId} ${place}`;
  return [
    // Nobody writes down when; it follows the event within moments.
    { step: { ...about, round: 1, kind: "placed", text }, sortMs: turnMs(facts) },
    ...tried.map((attempt) => attemptStep(attempt, about)),
    ...ends.map((end) => endStep(end, about)),
    ...ends.flatMap((end) => resolved(end, about)),
    ...facts.deeds.flatMap((deed) => deedStep(deed, delivery, about)),
    ...future(delivery, about, facts),
  ];
}

function attemptStep(attempt: StoryDelivery["tried"][number], about: About): Draft {
  const { number, round, startedAt, outcome, status, error, durationMs } = attempt;
  return at(startedAt, {
    ...about,
    round,
    attempt: number,
    kind: outcome === "acknowledged" ? "delivered" : "attempt",
    text: `attempt ${number} at ${about.endpointId}: ${status ?? error ?? outcome} in ${duration(durationMs)}`,
    outcome,
    status,
    durationMs,
  });
}

function endStep({ round, how, because, at: endedAt }: StoryDelivery["ends"][number], about: About): Draft {
  return at(endedAt, { ...about, round, kind: how, text: `${how} at ${about.endpointId}: ${because}` });
}

function resolved(
  { round, resolvedAt, resolvedHow }: StoryDelivery["ends"][number],
  about: About,
): readonly Draft[] {
  if (resolvedAt === null || (resolvedHow !== "redriven" && resolvedHow !== "skipped")) return [];
  return [
    at(resolvedAt, { ...about, round, kind: resolvedHow, text: `${resolvedHow} at ${about.endpointId}` }),
  ];
}

/** What was done to the event, before it had deliveries. */
function eventDeed({ at: doneAt, by, note, operationId, verb }: Deed): Draft {
  const why = note === null ? "" : `: ${note}`;
  return at(doneAt, { kind: "deed", text: `${verb} by ${by}${why}`, by, note, operationId });
}

/** What was done to this delivery, or to its lane before it landed. */
function deedStep(deed: Deed, { id, laneId, state, tried }: StoryDelivery, about: About): readonly Draft[] {
  const landedAt = state === "delivered" ? tried.at(-1)?.startedAt : undefined;
  const ofLane =
    deed.laneId !== null && deed.laneId === laneId && (landedAt === undefined || deed.at <= landedAt);
  if (deed.eventId !== undefined) return [];
  if (deed.deliveryId === null ? !ofLane : deed.deliveryId !== id) return [];
  const { at: doneAt, by, note, operationId, verb } = deed;
  const what = deed.deliveryId === null ? `${verb} of lane ${laneId}` : verb;
  const why = note === null ? "" : `: ${note}`;
  return [at(doneAt, { ...about, kind: "deed", text: `${what} by ${by}${why}`, by, note, operationId })];
}

function future(delivery: StoryDelivery, about: About, { nowMs, endpoints }: StoryFacts): readonly Draft[] {
  const { endpointId, state, round, dueInMs, attempts, laneId } = delivery;
  if (state !== "waiting" && state !== "retrying" && state !== "under_way") return [];
  const next = { ...about, round, future: true, attempt: attempts + 1, kind: "next_attempt" } as const;
  const what = `attempt ${attempts + 1} at ${endpointId}`;
  if (state === "under_way") return [{ step: { ...next, text: `${what} is under way` }, sortMs: nowMs }];
  if (dueInMs === null) {
    const stopped = endpoints.get(endpointId)?.state ?? "active";
    const text =
      stopped === "active" && laneId !== null
        ? `waits behind others of lane ${laneId}: ${endpointId}`
        : `waits for its ${isHandlerId(endpointId) ? "handler" : "endpoint"}: ${endpointId}${stopped === "active" ? "" : ` is ${stopped}`}`;
    return [{ step: { ...about, round, future: true, kind: "waiting", text }, sortMs: nowMs }];
  }
  const when = dueInMs <= 0 ? "due now" : `in ${duration(dueInMs)}`;
  return [at(new Date(nowMs + dueInMs).toISOString(), { ...next, text: `${what}, ${when}` })];
}

/** Why a lane stands as it stands. Pure. */
export function laneSentence(
  lane: {
    readonly state: string;
    readonly head: string;
    readonly depth: string;
    readonly key: string;
    readonly endpointId: string;
    readonly failures: number;
    readonly dueInMs: number | null;
  },
  head:
    | { readonly attempts: number; readonly lastStatus: number | null; readonly lastError: string | null }
    | undefined,
): string {
  const behind = BigInt(lane.depth) - 1n;
  const waits = `${count(behind, "later event")}${lane.key === "" ? "" : ` of ${lane.key}`} ${behind === 1n ? "waits" : "wait"}, in order.`;
  const answer = head?.lastStatus ?? head?.lastError ?? null;
  const told = answer === null ? "" : ` (${answer})`;
  switch (lane.state) {
    case "halted":
    case "parked":
      return `It stopped because #${lane.head} was given up after ${count(head?.attempts ?? 0, "attempt")}${told}. ${waits}`;
    case "retrying":
      return `#${lane.head} has failed ${count(lane.failures, "time")}${told} and is tried again ${
        lane.dueInMs === null || lane.dueInMs <= 0 ? "now" : `in ${duration(lane.dueInMs)}`
      }. ${waits}`;
    case "paused":
    case "disabled":
      return `Its ${isHandlerId(lane.endpointId) ? "handler" : "endpoint"} ${lane.endpointId} is ${lane.state}. ${count(BigInt(lane.depth), "event")} ${lane.depth === "1" ? "waits" : "wait"}, in order.`;
    default:
      return `It moves. ${count(BigInt(lane.depth), "event")} ${lane.depth === "1" ? "is" : "are"} in it.`;
  }
}
