import { tryWorkers } from "./outbox-workers.js";
import { createSqliteOutboxDatabase } from "./sqlite-outbox-database.js";

tryWorkers("sqlite", createSqliteOutboxDatabase);
