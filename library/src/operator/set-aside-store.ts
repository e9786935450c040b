import type { Page, Paged } from "./operator-store.js";

/** An event that could not be given its places, and was set aside so that it stops no other. */
export interface SetAsideEvent {
  /** By which it is redriven; higher than that of all that were set aside before it. */
  readonly number: bigint;
  readonly tenant: string;
  /** Undefined, as the type is, where somebody has deleted the event. */
  readonly eventId: string | undefined;
  readonly type: string | undefined;
  /** What the database said. */
  readonly error: string;
  readonly setAsideAt: Date;
}

/** What became of an event that was set aside. */
export type RedrivenEvent =
  /** It waits for its places again, behind what was published since. */
  | "staged"
  /** Somebody has deleted the event: there is nothing to send, and it is listed no more. */
  | "event_missing"
  /** Nothing that was set aside has this number, or it was redriven before. */
  | "unknown";

/** How a person finds what could not be sequenced. Each sentence is a case of the conformance kit, in the same words. */
export interface SetAsideStore {
  /** Events that could not be given their places and were not redriven since, newest first. */
  setAside(page: Page): Promise<Paged<SetAsideEvent>>;
  /** Lets an event that was set aside have its places after all, at the ends of its lanes; a second call changes nothing. */
  redriveEvent(number: bigint): Promise<RedrivenEvent>;
}
