import type { StoreErrorCode } from "../../../store-errors.js";
import { PosthornError } from "../../../posthorn-error.js";
import type { SqliteClient, SqliteDatabase } from "./client.js";
import { connectionOf } from "./connection.js";

/** The handles that were found to be of an outbox's own database. */
export class HostHandles {
  readonly #own: SqliteClient;
  readonly #known = new WeakSet<SqliteDatabase>();

  constructor(own: SqliteClient) {
    this.#own = own;
  }

  /** The client of a handle of the host that has a transaction open; throws where it has none, or is of another database. */
  inTransaction(tx: SqliteDatabase): SqliteClient {
    const { client } = connectionOf(tx);
    client.checkEnded();
    // Outside of one, each statement would be committed by itself, and a rollback of the host would take nothing back.
    if (!client.inTransaction) throw noTransaction();
    if (client.db === this.#own.db || this.#known.has(client.db)) return client;
    // What is written into another file is never delivered from this one.
    if (fileOf(client) === "" || fileOf(client) !== fileOf(this.#own)) throw otherDatabase();
    this.#known.add(client.db);
    return client;
  }
}

function fileOf(client: SqliteClient): string {
  const main = client.get("select file from pragma_database_list where name = 'main'") as
    | { file: string | null }
    | undefined;
  return main?.file ?? "";
}

function noTransaction(): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_transaction_required",
    "No transaction is open on the handle that was handed in; publish between begin and commit, without an await before it.",
  );
}

function otherDatabase(): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_client_unsupported",
    "The handle that was handed in is of another database than the outbox; hand in one that was opened on the same file.",
  );
}
