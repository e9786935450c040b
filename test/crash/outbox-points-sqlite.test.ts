import { killAtEveryOutboxPoint } from "./outbox-every-point.js";
import { createSqliteOutboxDatabase } from "./sqlite-outbox-database.js";

killAtEveryOutboxPoint("sqlite", createSqliteOutboxDatabase);
