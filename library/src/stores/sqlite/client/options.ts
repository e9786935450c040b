import type { StoreErrorCode } from "../../../store-errors.js";
import { PosthornError } from "../../../posthorn-error.js";
import type { Durability } from "./durability.js";

/** How long our own transactions wait for the write lock by default. */
export const DEFAULT_WAIT_MS = 5000;

/** How long SQLite may sleep on the thread of the event loop for a lock; longer waits are ours, between the loop's turns. */
export const LOCK_WAIT_MS = 5;

const DURABILITIES: readonly string[] = ["set", "strict", "as_is"] satisfies Durability[];

const LONGEST_WAIT_MS = 3_600_000;

/** Throws unless it is a number of milliseconds that can be waited. */
export function checkWaitMs(name: string, waitMs: number): void {
  if (Number.isFinite(waitMs) && waitMs >= 0 && waitMs <= LONGEST_WAIT_MS) return;
  throw invalid(`${name}: waitMs is ${String(waitMs)}; expected milliseconds, 0 to ${LONGEST_WAIT_MS}.`);
}

export function checkDurability(name: string, durability: Durability): void {
  if (DURABILITIES.includes(durability)) return;
  throw invalid(`${name}: durability is ${durability}; expected one of ${DURABILITIES.join(", ")}.`);
}

function invalid(message: string): PosthornError<StoreErrorCode> {
  return new PosthornError("store_option_invalid", message);
}
