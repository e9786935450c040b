import type { Signal } from "./observer.js";
import { isPosthornError } from "./posthorn-error.js";
import { describeThrown } from "./thrown.js";

/** Tells that a call to the store failed. */
export function storeFailed(operation: string, error: unknown): Extract<Signal, { kind: "store_failed" }> {
  const code = isPosthornError(error) ? error.code : "store_unavailable";
  const message = error instanceof Error ? error.message : describeThrown(error);
  return { kind: "store_failed", operation, code, message };
}
