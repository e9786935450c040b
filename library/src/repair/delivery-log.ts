import type { StopSignal } from "../stop-signal.js";

/** A delivery as its provider's API tells it: what was sent to us, or should have been. */
export interface LoggedRequest {
  /** The headers of the delivery where the log has them; they name the event, and may prove its bytes. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** One entry of a log. */
export interface LogEntry {
  /** The event's id as its webhook carries it: what makes overlap free. */
  readonly id: string;
  /** When the provider sent it, or made it. */
  readonly at: Date;
  /** Brings the delivery itself, by a request of its own where the list does not have it. */
  load(): Promise<LoggedRequest>;
}

/** One page of a log. */
export interface LogPage {
  /** Newest first, as every provider lists them. */
  readonly entries: readonly LogEntry[];
  /** Where the next, older page begins; undefined after the last. */
  readonly next: string | undefined;
}

/** What a provider's API tells of its deliveries. */
export interface DeliveryLog {
  /** For messages. */
  readonly title: string;
  /**
   * Which log it is: what a repair has read is remembered under it, beside the source and its tenant. The same log always has the
   * same name, and another log another one.
   */
  readonly name: string;
  /** How long the provider keeps its log. */
  readonly keptMs: number;
  /** Reads one page of what is not older than `since`. */
  page(request: LogRequest): Promise<LogPage>;
}

/** Which page is asked for. */
export interface LogRequest {
  readonly since: Date;
  /** `next` of the page before. */
  readonly next: string | undefined;
  readonly signal: StopSignal | undefined;
}
