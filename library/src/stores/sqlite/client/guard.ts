import type { StoreErrorCode } from "../../../store-errors.js";
import { PosthornError } from "../../../posthorn-error.js";
import { transactionCommand } from "../../../transaction-command.js";
import type { SqliteDatabase } from "./client.js";

/**
 * A handle as the handler sees it. Open, it refuses statements that begin or end transactions: after a `rollback` of the
 * handler's, each of its writes would be committed by itself, again with every delivery. Closed, it refuses every
 * statement: it would be committed outside of any transaction.
 */
export interface Guarded<Db> {
  readonly tx: Db;
  readonly close: () => void;
  /** Why a statement was refused: its event fails, even where the handler swallowed the refusal. */
  readonly refusal: () => PosthornError | undefined;
}

const handles = new WeakMap<object, SqliteDatabase>();

/** The handle behind what a handler was given; any other handle as it is. */
export function realHandle(db: SqliteDatabase): SqliteDatabase {
  return handles.get(db) ?? db;
}

export function guardHandle<Db extends SqliteDatabase>(db: Db): Guarded<Db> {
  let open = true;
  let refusal: PosthornError | undefined;
  const check = (command: string | undefined): void => {
    if (!open) throw finished();
    if (command === undefined) return;
    const refused = owned(command);
    refusal ??= refused;
    throw refused;
  };
  const tx = new Proxy(db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function" || name === "constructor") return value;
      return (...args: unknown[]): unknown => {
        if (name === "close") check("close()");
        else if (name === "prepare" || name === "exec") check(transactionCommand(String(args[0])));
        else check(undefined);
        // By the handle itself: the methods of both drivers are native, and know no other.
        return (value as (...given: unknown[]) => unknown).apply(target, args);
      };
    },
  });
  handles.set(tx, db);
  return { tx, close: () => (open = false), refusal: () => refusal };
}

function owned(found: string): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_transaction_owned",
    `The handler ran \`${found}\` on its transaction, which Posthorn begins and ends together with the event's row. ` +
      "Use it as it is, and `savepoint`, `rollback to` and `release`, or `db.transaction()` of better-sqlite3, to undo a part of it.",
  );
}

function finished(): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_transaction_finished",
    "The transaction was used after it had ended, where its writes would land outside of it. " +
      "Write before the inner function returns, and use no transaction of an earlier call.",
  );
}
