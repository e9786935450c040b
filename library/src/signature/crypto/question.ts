import type { Key } from "../keys/key.js";

/** What was signed, in the order in which it is hashed. Text counts as UTF-8. */
export type Content = readonly (string | Uint8Array)[];

/** Asked of the platform's cryptography: which of these signatures did this key make over this content? */
export interface Question {
  readonly key: Key;
  readonly content: Content;
  readonly signatures: readonly Uint8Array[];
}

/** The index of the first signature that is right, or -1. */
export type Answer = number;
