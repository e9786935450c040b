import type { Verdict } from "../inbox/verdict.js";
import { isPosthornError } from "../posthorn-error.js";
import { STORE_ERRORS } from "../store-errors.js";
import { reachOf } from "./provider-api.js";

/** Under what a settled entry is counted. */
export type Figure = "applied" | "duplicate" | "skipped" | "stale";

/** What became of one entry. */
export type Trial =
  | { readonly kind: "settled"; readonly as: Figure }
  /** Tried again by the next run. `alone`: it says nothing of the entries that follow. */
  | { readonly kind: "unsettled"; readonly alone: boolean }
  /** What follows would fare no better, and would be loaded in vain. */
  | { readonly kind: "ended" };

const APPLIED: Trial = { kind: "settled", as: "applied" };
const SKIPPED: Trial = { kind: "settled", as: "skipped" };
const DUPLICATE: Trial = { kind: "settled", as: "duplicate" };
const FAILED: Trial = { kind: "unsettled", alone: true };
const DOUBTFUL: Trial = { kind: "unsettled", alone: false };
const ENDED: Trial = { kind: "ended" };

// A table without a row for each verdict does not compile: one that was forgotten would be read again for ever.
const BY_VERDICT: Readonly<Record<Verdict, Trial>> = {
  applied: APPLIED,
  stored: APPLIED,
  skipped: SKIPPED,
  dropped: SKIPPED,
  duplicate: DUPLICATE,
  conflict: DUPLICATE,
  stale: { kind: "settled", as: "stale" },
  busy: FAILED,
  failed: FAILED,
  // A handler past its deadline, or a store that has failed: several in a row tell.
  unavailable: DOUBTFUL,
  saturated: ENDED,
};

/** What a verdict means for a repair. */
export function trialOf(verdict: Verdict): Trial {
  return BY_VERDICT[verdict];
}

/** The same of an error, which the log has thrown while it loaded the entry, or the receiver. */
export function trialOfError(error: unknown, thrower: "log" | "receiver"): Trial {
  if (thrower === "receiver") return trialOfThrown(error);
  const reach = reachOf(error);
  if (reach === "access") return ENDED;
  return reach === "entry" ? FAILED : DOUBTFUL;
}

function trialOfThrown(error: unknown): Trial {
  if (!isPosthornError(error)) return DOUBTFUL;
  // Any other code of ours judges the delivery itself: five that bring another event would end each run before those that follow.
  return error.code in STORE_ERRORS ? ENDED : FAILED;
}

/** So many in a row end a run: an API or a store that is down would be asked in vain for each entry, for its whole deadline. */
export const MOST_IN_A_ROW = 5;
