import type { StoreErrorCode } from "../../../store-errors.js";
import { PosthornError } from "../../../posthorn-error.js";
import type { SqliteClient, SqliteDatabase } from "./client.js";
import { connectionOf } from "./connection.js";
import { storeError } from "./failure.js";
import { checkWaitMs } from "./options.js";

/** Who writes, and how long it may wait for the write lock. */
export interface Caller {
  readonly name: string;
  readonly waitMs: number;
}

/** One write of a function that belongs to no store, as people call it at the start of a process. */
export async function writeOnce<T>(
  db: SqliteDatabase,
  { name, waitMs }: Caller,
  run: (client: SqliteClient) => T,
): Promise<T> {
  checkWaitMs(name, waitMs);
  const { client, statements } = connectionOf(db);
  try {
    return await statements.join({
      run: () => run(client),
      undoable: true,
      waitMs,
      expired: () => {
        throw new PosthornError<StoreErrorCode>(
          "store_unavailable",
          `${name}: another connection held the write lock, or the host a transaction, for ${waitMs} ms. Retry, or raise waitMs.`,
        );
      },
    });
  } catch (error) {
    throw storeError(error);
  }
}
