import { killAtEveryOutboxPoint } from "./outbox-every-point.js";
import { createPostgresOutboxDatabase } from "./postgres-outbox-database.js";

killAtEveryOutboxPoint("postgres", createPostgresOutboxDatabase);
