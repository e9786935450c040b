import { outboxConformance } from "posthorn/testing";
import { runConformance } from "../conformance/run-conformance.js";
import { postgresOutboxHarness } from "../postgres/outbox-harness.js";
import { freshDatabase } from "../services.js";
import { drizzle } from "./subjects/drizzle.js";

// On one ORM: rows are objects there, so that every statement needs columns of different names. What else an ORM can do to the
// outbox, it can do to the inbox.
const url = await freshDatabase();
runConformance(`postgresStore on ${drizzle.name}`, outboxConformance(postgresOutboxHarness(drizzle, url)));
