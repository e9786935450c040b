import { tryWorkers } from "./outbox-workers.js";
import { createPostgresOutboxDatabase } from "./postgres-outbox-database.js";

tryWorkers("postgres", createPostgresOutboxDatabase);
