import { freshDatabase } from "../services.js";
import type { OutboxDatabase } from "./outbox-database.js";
import { openPostgresOutboxDatabase } from "./postgres-outbox-reader.js";

/** A database of its own on the lane's server, with the tables of Posthorn and the publisher. */
export async function createPostgresOutboxDatabase(): Promise<OutboxDatabase> {
  return openPostgresOutboxDatabase(await freshDatabase());
}
