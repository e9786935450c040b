import type { IncomingName } from "../event.js";
import type { FilledPlace } from "../hold-mark.js";
import type { OutgoingEvent } from "./outgoing-event.js";

export type { IncomingName };

/** An event that came from elsewhere, to be kept and sent on. */
export interface IncomingEvent {
  /** With an id of our own, which is the event's for ever. */
  readonly event: OutgoingEvent;
  readonly names: readonly [IncomingName, ...IncomingName[]];
  /** Its names are known this long after its last receipt; undefined = for ever. */
  readonly windowS: number | undefined;
}

/** What became of an incoming event. `id` is the one under which it was stored when it first came. */
export type Ingested =
  | { readonly kind: "stored"; readonly id: string }
  | { readonly kind: "duplicate"; readonly id: string }
  /** One of its names is known with another body; this one is not stored. */
  | { readonly kind: "conflict"; readonly id: string };

/** A request that carried an event which had come before. */
export interface IncomingRepeat {
  readonly tenant: string;
  /** The event that came first. */
  readonly eventId: string;
  readonly kind: "duplicate" | "conflict";
  readonly receivedAt: Date;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** SHA-256 of the body's bytes. */
  readonly bodyHash: Uint8Array;
  /** Kept this long after its last receipt; undefined = for ever. */
  readonly windowS: number | undefined;
}

/** How many bodies are kept of one event; further ones are not recorded. */
export const MOST_REPEATED_BODIES = 20;

/** Where forgetting names stops. */
export interface ForgetLimits {
  readonly maxNames: number;
}

/** Where a gateway takes events in. Each sentence is a case of the conformance kit, in the same words. */
export interface IngestStore {
  /**
   * Stores each event of which no name is known, ready to be sequenced, together with its names; calls of the same
   * moment share one commit, and each is answered when that is durable. All names of an event that came before are
   * known from then on, and its window starts again. Of two that share a name and come at once, one is stored. A
   * duplicate or a conflict fills its place in the sequence of its key: what comes behind it does not wait. A duplicate or
   * a conflict of an event that waits for its places fills none of them: nobody passes it.
   */
  ingest(incoming: IncomingEvent): Promise<Ingested>;
  /**
   * Fills the place of an event that was answered and is not stored: what is held behind it goes. What is missing before a
   * filled place is still waited for, and an event below it is not late. It is forgotten when events of its time are.
   */
  fill(place: FilledPlace): Promise<void>;
  /**
   * Records duplicates and conflicts: one row per body, which counts its receipts; the bytes are kept where they are not
   * the event's own. Of one event, {@link MOST_REPEATED_BODIES} bodies are kept. Rows whose window has passed are forgotten.
   */
  recordRepeats(repeats: readonly IncomingRepeat[]): Promise<void>;
  /** Forgets names whose window has passed, oldest first; says how many. */
  forgetNames(limits: ForgetLimits): Promise<number>;
}
