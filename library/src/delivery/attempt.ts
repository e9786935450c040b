import { headerFault } from "../event-headers.js";
import type { EventHeaders } from "../event-headers.js";
import type { Stamp } from "../event.js";
import type { SignedHeaders, Signer } from "../signature/sign.js";
import { signSync } from "../signature/sign.js";
import type { AttemptRecord } from "../lanes/attempt-record.js";
import type { Claim, ClaimedDelivery } from "../lanes/lane-store.js";
import type { EgressAnswer } from "./egress/egress.js";

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
export function recordOf({ delivery, number }: Trial, startedAt: Date, result: EgressAnswer): AttemptRecord {
  const { outcome, answer, durationMs } = result;
  return {
    sequence: delivery.sequence,
    round: delivery.round,
    number,
    startedAt,
    durationMs,
    outcome: outcome.kind,
    status: "status" in outcome ? outcome.status : undefined,
    error: "reason" in outcome ? outcome.reason : undefined,
    answer: outcome.kind === "acknowledged" ? answer?.subarray(0, KEPT_OF_SUCCESS) : answer,
  };
}
