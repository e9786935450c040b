import type { StopSignal } from "../stop-signal.js";
import type { Outcome } from "./outcome.js";

/** One request on its way out. */
export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** For the whole attempt: name, connection, request and answer. */
  readonly deadlineMs: number;
  /** Ends the attempt at once. */
  readonly signal?: StopSignal | undefined;
}

/** What came of it. */
export interface EgressAnswer {
  readonly outcome: Outcome;
  /** The first bytes of the answer's body, as they came; undefined when there was no answer. */
  readonly answer: Uint8Array | undefined;
  readonly durationMs: number;
}

/** The one way out of the process: every request passes the address guard here. */
export interface Egress {
  /** Never throws for what a network or a server can do. */
  post(request: OutgoingRequest): Promise<EgressAnswer>;
  close(): Promise<void>;
}
