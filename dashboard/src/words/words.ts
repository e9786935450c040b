import type { Attempt, DeadLetter, Delivery, Endpoint, InboxRow, Lane } from "posthorn/client";

/** A state as it is shown: its colours, its shape and its word. Never a colour alone. */
export interface Look {
  readonly tone: "landed" | "waiting" | "retrying" | "halted" | "dead" | "paused" | "disabled";
  readonly icon: string;
  readonly word: string;
}

const look = (tone: Look["tone"], word: string, icon: string = tone): Look => ({
  tone,
  word,
  icon: `s-${icon}`,
});

const DELIVERY_LOOKS: Readonly<Record<Delivery["state"], Look>> = {
  waiting: look("waiting", "waiting"),
  under_way: look("retrying", "under way", "active"),
  retrying: look("retrying", "retrying"),
  delivered: look("landed", "landed"),
  dead: look("dead", "dead"),
  cancelled: look("disabled", "cancelled"),
};

const LANE_LOOKS: Readonly<Record<Lane["state"], Look>> = {
  flowing: look("landed", "flowing", "active"),
  halted: look("halted", "halted"),
  parked: look("paused", "parked"),
  retrying: look("retrying", "retrying"),
  paused: look("paused", "paused"),
  disabled: look("disabled", "disabled"),
};

const ENDPOINT_LOOKS: Readonly<Record<Endpoint["state"], Look>> = {
  active: look("landed", "active", "active"),
  paused: look("paused", "paused"),
  disabled: look("disabled", "disabled"),
};

const OUTCOME_LOOKS: Readonly<Record<string, Look>> = {
  acknowledged: look("landed", "landed"),
  refused: look("halted", "refused", "attempt"),
  unreachable: look("halted", "not reached", "attempt"),
  unknown: look("retrying", "no answer", "failing"),
  forbidden: look("dead", "not allowed", "disabled"),
  lapsed: look("retrying", "lapsed", "silent"),
  failed: look("halted", "failed", "attempt"),
  postponed: look("retrying", "put off", "silent"),
};

const INBOX_LOOKS: Readonly<Record<InboxRow["outcome"], Look>> = {
  success: look("landed", "success"),
  skipped: look("disabled", "skipped"),
  failed: look("halted", "failed", "attempt"),
  pending: look("waiting", "pending"),
  held: look("paused", "held"),
  dead: look("dead", "dead"),
  dropped: look("disabled", "dropped"),
};

// A newer server may know more states than this page.
const unknownLook = (word: string): Look => look("disabled", word, "silent");

export const deliveryLook = (state: Delivery["state"]): Look => DELIVERY_LOOKS[state] ?? unknownLook(state);
export const laneLook = (state: Lane["state"]): Look => LANE_LOOKS[state] ?? unknownLook(state);
export const endpointLook = (state: Endpoint["state"]): Look => ENDPOINT_LOOKS[state] ?? unknownLook(state);
export const outcomeLook = (outcome: string): Look => OUTCOME_LOOKS[outcome] ?? unknownLook(outcome);

export const inboxLook = (outcome: InboxRow["outcome"]): Look => INBOX_LOOKS[outcome] ?? unknownLook(outcome);

/** Whether a lane waits for a person. */
export function needsPerson({ state }: Pick<Lane, "state">): boolean {
  return state === "halted";
}

const BECAUSE: Readonly<Record<string, string>> = {
  exhausted: "every attempt failed",
  refused: "the endpoint refused it",
  forbidden: "nothing may be sent to its address",
  unsendable: "it cannot be sent as it is",
  event_missing: "its event was deleted",
  lease_expired: "its worker stopped again and again",
  error_rule: "a rule for errors gave it up",
  expired: "it was too old to be sent",
  skipped: "an operator skipped it",
  cancelled: "an operator cancelled it with what waited before it",
  endpoint_removed: "its endpoint was removed",
  consumer_removed: "its handler was removed",
  redriven: "it was redriven, and has another place since",
};

/** Why a delivery is dead or cancelled. */
export function becauseWords(because: string | null): string {
  if (because === null) return "the reason is not known";
  return BECAUSE[because] ?? because.replaceAll("_", " ");
}

const ERRORS: Readonly<Record<string, string>> = {
  dns: "its name could not be resolved",
  connect: "no connection could be made",
  tls: "TLS could not be agreed on",
  timeout: "no answer came in time",
  reset: "the connection broke before an answer came",
  bad_answer: "the answer was not HTTP",
  private_address: "its address is a private one",
  scheme: "its address is not https",
  port: "its port is not allowed",
  name: "its name is not allowed",
  url: "its URL cannot be used",
  credentials: "its URL holds a password",
};

/** The last answer, or the lack of one: `500`, or `no answer came in time`. */
export function answerWords(status: number | null, error: string | null): string {
  if (status !== null) return String(status);
  if (error === null) return "no answer is known";
  return ERRORS[error] ?? error.replaceAll("_", " ");
}

/** One reason for a whole group of dead letters: `500`, `no answer came in time`, `the endpoint refused it`. */
export function deadReason({
  because,
  lastStatus,
  lastError,
}: Pick<DeadLetter, "because" | "lastStatus" | "lastError">): string {
  if (lastStatus !== null) return `answered ${lastStatus}`;
  return lastError === null ? becauseWords(because) : answerWords(null, lastError);
}

/** What an attempt came to, as a sentence. */
export function attemptWords({
  outcome,
  status,
  error,
}: Pick<Attempt, "outcome" | "status" | "error">): string {
  if (outcome === "lapsed") return "the worker stopped before it knew";
  return answerWords(status, error);
}

const REJECTED: Readonly<Record<string, string>> = {
  signature_mismatch: "The signature does not match",
  signature_missing: "There is no signature",
  signature_malformed: "The signature cannot be read",
  signature_unsupported: "The signature is of an unknown version",
  signature_unverifiable: "The signature could not be checked",
  header_missing: "A header is missing",
  timestamp_malformed: "The signed time cannot be read",
  timestamp_out_of_range: "The signed time is too far from now",
  body_too_large: "The body is too large",
  body_malformed: "The body cannot be read",
  events_too_many: "It holds too many events",
  conflict: "The same id came before with other bytes",
};

/** The verdict on a rejected request, in words. */
export function verdictWords(code: string): string {
  const known = REJECTED[code];
  if (known !== undefined) return known;
  const words = code.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The order of an endpoint, as a sentence. */
export const ORDER_WORDS: Readonly<Record<Endpoint["order"], readonly [string, string]>> = {
  key: ["by key", "events of one key never overtake each other"],
  endpoint: ["all in one lane", "no event overtakes another"],
  none: ["none", "events go out as they come"],
};

export const DEAD_WORDS: Readonly<Record<string, readonly [string, string]>> = {
  halt: ["halt the lane", "later events of the key wait for you"],
  skip: ["skip it", "the lane goes on, and the receiver is told of the gap"],
  park: ["park the lane", "it waits, and asks nobody to look"],
};

/** What is done with a given-up event; null means that the order decides. */
export function deadWords({ dead, order }: Pick<Endpoint, "dead" | "order">): readonly [string, string] {
  return DEAD_WORDS[dead ?? (order === "none" ? "skip" : "halt")] ?? ["", ""];
}
