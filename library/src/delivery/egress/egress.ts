import type { StopSignal } from "../../stop-signal.js";
import type { AttemptTimings } from "../../lanes/attempt-record.js";
import type { Outcome } from "../outcome.js";

/** One request on its way out. */
export interface OutgoingRequest {
  readonly url: string;
  /** Without `host`, `content-length` and those of the connection, which follow from the rest. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** For the whole attempt: name, connection, request and answer. */
  readonly deadlineMs: number;
  /**
   * How much of that time is left, by the sender's clock. The egress asks again right before the first byte leaves: a
   * process that was stopped since it checked its lease has lost the right to send. @default all of it
   */
  readonly leftMs?: (() => number) | undefined;
  /** How much of the answer's body is kept; a connection on which more comes is closed. @default 16,384 */
  readonly maxAnswerBytes?: number | undefined;
  /** Ends the attempt at once, as if its deadline had come. */
  readonly signal?: StopSignal | undefined;
}

/** What came of a request. */
export interface EgressAnswer {
  readonly outcome: Outcome;
  /** The first bytes of the answer's body, as they came, never decoded; undefined when there were none. */
  readonly answer: Uint8Array | undefined;
  readonly durationMs: number;
  /** Where a redirect leads. We never follow it: the guard has not judged that address. */
  readonly location?: string | undefined;
  /** For operators: why nothing was sent, or the code of the network's error (`CERT_HAS_EXPIRED`, `ECONNREFUSED`). */
  readonly detail?: string | undefined;
  /** The address that was reached. */
  readonly address?: string | undefined;
  readonly timings?: AttemptTimings | undefined;
}

/** A request that only reads. */
export type ReadingRequest = Omit<OutgoingRequest, "body">;

/** What came of it. */
export interface ReadingAnswer extends EgressAnswer {
  /** Of the answer, names in lower case; of repeated ones the first. */
  readonly headers: Readonly<Record<string, string>>;
  /** `answer` is not the whole body: more came than `maxAnswerBytes`, or it broke off. */
  readonly cut: boolean;
}

/** The one way out of the process: every request passes the address guard here. */
export interface Egress {
  /** Never throws for what a network or a server can do. */
  post(request: OutgoingRequest): Promise<EgressAnswer>;
  /** Takes no more requests, and resolves when those under way have ended. */
  close(): Promise<void>;
}

/** The same way out for requests that read: judged, pinned, limited and never redirected, as those that post. */
export interface ReadingEgress extends Egress {
  /** Never throws for what a network or a server can do. */
  get(request: ReadingRequest): Promise<ReadingAnswer>;
}
