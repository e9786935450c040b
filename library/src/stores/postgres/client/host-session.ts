import type { StoreErrorCode } from "../../../store-errors.js";
import { PosthornError } from "../../../posthorn-error.js";
import { clientKind } from "./client.js";
import type { Session } from "./database.js";
import { IN_TRANSACTION, sessionOf } from "./pool.js";
import { transactionAborted } from "./failure.js";

/**
 * The connection of the host's transaction; throws unless there is one. Without this look, an event would be
 * committed at once, and stay when the host rolls back.
 */
export async function hostSession(tx: unknown, prepare: boolean): Promise<Session> {
  const known = clientKind(tx);
  const session = sessionOf(known, prepare);
  const status = known.kind === "pg_client" ? statusOf(known.client) : undefined;
  if (status === "T") return session;
  if (status === "E") throw transactionAborted(undefined);
  // The driver does not tell, or a `begin` is on its way: the server says it after all that was sent before.
  const { rows } = await session.query({ text: `select (${IN_TRANSACTION})::text` });
  if (rows[0]?.[0] !== "true") throw notInTransaction();
  return session;
}

/** Older versions of pg do not have it. */
function statusOf(client: object): unknown {
  return (client as { getTransactionStatus?: () => unknown }).getTransactionStatus?.();
}

function notInTransaction(): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_transaction_required",
    "The client is not inside of a transaction, so that a rollback could not take the event back. " +
      "Run `begin` on it first and `commit` after the work, or publish without a transaction.",
  );
}
