import { PosthornError } from "../../posthorn-error.js";
import type { InboxErrorCode } from "../inbox-errors.js";

// Two copies of the package can meet in one process, and `instanceof` then lies; the brand does not.
const BRAND = Symbol.for("posthorn.again");

// Below, a handler that always says it would keep its worker busy with nothing; above, nobody would notice that it waits.
const LEAST_MS = 100;
const MOST_MS = 86_400_000;

/** How often one event may be put off in a round: one that waits for what never comes would hold its lane for ever, unseen. */
export const MOST_AGAIN = 1000;

/** What `again` makes. It is thrown, and is no failure. */
export class Again extends Error {
  override readonly name = "Again";
  readonly afterMs: number;

  constructor(afterMs: number, message: string) {
    super(message);
    this.afterMs = afterMs;
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/**
 * Thrown by a handler of a worker whose event cannot be handled yet. What the handler wrote is rolled back; the event keeps
 * its place at the head of its lane, holds no slot while it waits, and spends no retry. `afterMs` is from 100 ms to a day;
 * from the 1,001st time on it counts as a failure.
 *
 * @example
 * if (!(await isImported(customer))) throw again({ afterMs: 5000, because: "the customer is not imported yet" });
 */
export function again(wait: { readonly afterMs: number; readonly because?: string }): Again {
  const { afterMs, because } = Object(wait) as { readonly afterMs?: unknown; readonly because?: string };
  if (typeof afterMs !== "number") {
    throw invalid(`again has afterMs of type ${typeof afterMs}; expected again({ afterMs: 5000 })`);
  }
  if (!(afterMs >= LEAST_MS && afterMs <= MOST_MS)) {
    throw invalid(
      `again cannot wait ${afterMs} ms; expected afterMs from ${LEAST_MS} to ${MOST_MS}, which is a day`,
    );
  }
  return new Again(afterMs, because ?? "the handler asked for its event again");
}

function invalid(found: string): PosthornError<InboxErrorCode> {
  return new PosthornError("inbox_option_invalid", `${found}.`);
}

/** Throws what `again` made where a handler has returned it: the event would count as applied, and never run again. */
export function unlessAgain<T>(returned: T): T {
  if (isAgain(returned)) throw returned;
  return returned;
}

/** Whether a handler has thrown what `again` makes, of whichever copy of the package. */
export function isAgain(error: unknown): error is Again {
  return typeof error === "object" && error !== null && BRAND in error;
}
