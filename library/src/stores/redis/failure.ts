import type { InboxErrorCode } from "../../inbox/inbox-errors.js";
import type { StoreErrorCode } from "../../store-errors.js";
import { PosthornError } from "../../posthorn-error.js";

// As the server's refusals begin: OOM, READONLY, LOADING, BUSY … What a client says of itself does not.
const REFUSAL = /^-?([A-Z]{2,})\b/;

// EVAL needs the rights to all that its scripts do.
const RIGHTS = "Check the credentials; EVAL, GET, SET and DEL must be allowed on the prefix.";
const CURES: ReadonlyMap<string | undefined, string> = new Map([
  ["OOM", "It is full: raise maxmemory, or shorten the ttl."],
  ["READONLY", "It is a replica: connect to the primary."],
  ["NOAUTH", RIGHTS],
  ["WRONGPASS", RIGHTS],
  ["NOPERM", RIGHTS],
]);

/** The word with which the server refused; undefined when no answer came, and the command may have been done. */
export function refusalOf(error: unknown): string | undefined {
  return error instanceof Error ? REFUSAL.exec(error.message)?.[1] : undefined;
}

/** Redis could not be asked, or refused: no verdict, because either guess would lose or repeat an event. */
export function unavailable(error: unknown): PosthornError<StoreErrorCode> {
  const refusal = refusalOf(error);
  const found = error instanceof Error ? error.message : String(error);
  const cure = CURES.get(refusal) ?? "Answer 503, so that the sender comes again.";
  return new PosthornError("store_unavailable", `Redis gave no verdict (${found}). ${cure}`, {
    detail: { refusal },
    cause: error,
  });
}

export function claimedElsewhere(): PosthornError<InboxErrorCode> {
  return new PosthornError(
    "dedup_busy",
    "Another caller has claimed the id and not confirmed it yet. Answer 503, so that the sender comes again.",
  );
}

export function claimLost(claimTtlS: number): PosthornError<InboxErrorCode> {
  return new PosthornError(
    "claim_lost",
    `The claim had run out after ${claimTtlS} s, before it was confirmed: another caller may have done the work too. ` +
      "Set claimTtlS above the longest time that the work can take.",
  );
}

export function invalid(found: string): PosthornError<StoreErrorCode> {
  return new PosthornError("store_option_invalid", `redisDedup: ${found}.`);
}
