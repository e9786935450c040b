import { headerFault } from "../event-headers.js";
import type { EventHeaders } from "../event-headers.js";
import type { Stamp } from "../event.js";
import type { SignedHeaders, Signer } from "../signature/sign.js";
import { signSync } from "../signature/sign.js";
import type { AttemptDetails, AttemptRecord } from "../lanes/attempt-record.js";
import type { Claim, ClaimedDelivery } from "../lanes/lane-store.js";
import type { EgressAnswer, OutgoingRequest } from "./egress/egress.js";
import type { Outcome } from "./outcome.js";

const USER_AGENT = "Posthorn";
// Of the answer to an acknowledged attempt, the first words are enough.
const KEPT_OF_SUCCESS = 256;

/** One delivery that is about to be attempted. */
export interface Trial {
  readonly claim: Pick<Claim, "lane">;
  readonly delivery: ClaimedDelivery;
  /** The last sequence before it that was not skipped. */
  readonly after: bigint | undefined;
  /** 1 for the first of its round. */
  readonly number: number;
}

/** The headers of one attempt: signed by every secret, with its place in its lane. Throws `event_unsignable`. */
export function requestHeaders(signer: Signer, trial: Trial, at: Date): SignedHeaders {
  const { event } = trial.delivery;
  const signed = signSync(signer, { id: event.id, body: event.body, at, stamp: stampOf(trial) });
  const own = Object.assign(signed, { "content-type": event.contentType, "user-agent": USER_AGENT });
  return event.headers === undefined ? own : { ...sendable(event.headers), ...own };
}

// Checked again, for events that no sender has checked: a header `Webhook-Signature` of theirs would stand beside ours.
function sendable(headers: EventHeaders): EventHeaders {
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(named.filter(([name, value]) => headerFault(name, value) === undefined));
}

function stampOf({ claim, delivery, after, number }: Trial): Stamp {
  const { sequence, event } = delivery;
  const { lane } = claim;
  return {
    lane: lane && { generation: lane.generation, key: lane.key, sequence, after },
    time: event.time,
    attempt: number,
    // A redrive is no replay: the receiver has never acknowledged a dead delivery.
    replay: false,
  };
}

/** What history keeps of an attempt. */
export function recordOf(
  { delivery, number }: Trial,
  startedAt: Date,
  {
    request,
    result,
  }: { readonly request: Pick<OutgoingRequest, "url" | "headers">; readonly result: EgressAnswer },
): AttemptRecord {
  const { outcome, answer, durationMs, detail } = result;
  // Nothing was sent, and a word as "name" mends nothing: the guard's own sentence says what was found and what would allow it.
  const refused = outcome.kind === "forbidden" ? detail : undefined;
  return {
    sequence: delivery.sequence,
    round: delivery.round,
    number,
    startedAt,
    durationMs,
    outcome: outcome.kind,
    status: "status" in outcome ? outcome.status : undefined,
    error: refused ?? ("reason" in outcome ? outcome.reason : undefined),
    answer: outcome.kind === "acknowledged" ? answer?.subarray(0, KEPT_OF_SUCCESS) : answer,
    details: detailsOf(request, result),
  };
}

function detailsOf(
  { url, headers }: Pick<OutgoingRequest, "url" | "headers">,
  { outcome, detail, address, timings }: EgressAnswer,
): AttemptDetails {
  const failed = outcome.kind !== "acknowledged";
  return {
    url,
    address,
    requestHeaders: failed ? shownHeaders(headers) : undefined,
    timings,
    fingerprint: failed ? fingerprintOf(outcome, detail) : undefined,
  };
}

// Whoever reads history must not be able to call a receiver with what stands there.
const SECRET_NAME = /authorization|cookie|token|secret|password|credential|api-?key/i;
const SIGNATURE_NAME = /signature/i;

/** Headers as people may see them: of secrets nothing, of signatures the beginning of each, by which they can be compared. */
export function shownHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, shown(name, value)]));
}

function shown(name: string, value: string): string {
  if (SECRET_NAME.test(name)) return "…";
  return SIGNATURE_NAME.test(name) ? value.replaceAll(/(\S{1,12})\S*/g, "$1…") : value;
}

/** The cause of a failure, without what differs between attempts. */
function fingerprintOf(
  outcome: Exclude<Outcome, { kind: "acknowledged" }>,
  detail: string | undefined,
): string {
  if (outcome.kind === "refused") return `status ${outcome.status}`;
  const code = /^[A-Z][A-Z\d_]{2,63}$/.test(detail ?? "") ? ` ${detail}` : "";
  return `${outcome.reason}${code}`;
}
