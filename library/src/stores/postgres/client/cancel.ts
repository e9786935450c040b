import type { PostgresQuery } from "./drivers.js";
import { ignore } from "./deadline.js";

interface Cancellable {
  canceller?: ((query: PostgresQuery) => Promise<void>) | null;
}

/**
 * Asks the server to stop a query of `postgres`. Its own `cancel` drops the promise of the connection that it opens
 * for this: where the server cannot be reached, which is when queries hang, the rejection ends the process.
 */
export function cancelQuery(query: PostgresQuery): void {
  const { canceller } = query as Cancellable;
  if (typeof canceller !== "function") return query.cancel();
  // As the driver does, so that no query is cancelled twice.
  (query as Cancellable).canceller = null;
  canceller(query).catch(ignore);
}
