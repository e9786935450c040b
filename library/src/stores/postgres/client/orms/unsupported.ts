import { PosthornError } from "../../../../posthorn-error.js";
import type { StoreErrorCode } from "../../../../store-errors.js";

/** A client of an ORM on which no event can be applied together with the host's writes. */
export function unsupportedOrm(orm: string, why: string, cause?: unknown): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_client_unsupported",
    `This client of ${orm} cannot be used: ${why}. An event is applied in one transaction with its handler's writes.`,
    { cause },
  );
}

const WORDS =
  /no transactions? support|transactions? (?:is|are) not (?:yet )?supported|not support(?:ed)? transactions?/i;

/** What the failure to open a transaction means, where the driver says that it has none. */
export function openFailure(orm: string, error: unknown): unknown {
  const message = error instanceof Error ? error.message : "";
  if (!WORDS.test(message)) return error;
  return unsupportedOrm(
    orm,
    `its driver has no interactive transactions ("${message}"); use one that keeps a connection`,
    error,
  );
}
