import type { InboxKey, InboxOutcome } from "../inbox-store.js";

/** Names a step of a handler: of one event, for one consumer, in one round. */
export interface StepKey extends InboxKey {
  /** As the inbox names it: `''` is the default handler. */
  readonly consumer: string;
  /** 1, and one more with each replay of the event: another round does its steps anew. */
  readonly round: number;
  readonly step: string;
}

/** What is known of a step. */
export type StepState =
  /** Nobody has begun it before. */
  | { readonly kind: "new" }
  /** Somebody has begun it, and nobody knows what came of it. */
  | { readonly kind: "begun" }
  /** `result` is the JSON text that was kept; undefined where the step came to nothing. */
  | { readonly kind: "done"; readonly result: string | undefined };

/** What a row of the inbox says of an event before its handler runs. */
export interface InboxRound {
  /** 1, and one more with each replay. */
  readonly round: number;
  /** Undefined where nothing is known of it. */
  readonly outcome: InboxOutcome | undefined;
}

/** Where the steps of long handlers are kept. Each sentence is a case of the conformance kit, in the same words. */
export interface StepStore {
  /** The round of an event for a consumer, and its outcome in it, by its row of the inbox; 1 and none where there is no row. */
  roundOf(key: InboxKey, consumer: string): Promise<InboxRound>;
  /**
   * Notes that a step begins, and says what was known of it before. It is removed with the event that was stored under the
   * public id `storedAs`.
   */
  beginStep(key: StepKey, storedAs: string): Promise<StepState>;
  /** Keeps the result of a step that has begun; the first result stays. */
  keepStep(key: StepKey, result: string | undefined): Promise<void>;
}
