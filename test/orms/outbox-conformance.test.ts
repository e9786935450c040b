import { outboxConformance } from "posthorn/testing";
import { runConformance } from "../conformance/run-conformance.js";
import { postgresOutboxHarness } from "../postgres/outbox-harness.js";
import { freshDatabase } from "../services.js";
import { drizzle } from "./subjects/drizzle.js";
import { kysely } from "./subjects/kysely.js";

// The whole kit on one ORM: rows are objects there, so that every statement needs columns of different names. What workers do
// also runs on one that renames columns; worker.test.ts has a worker on each of them.
const url = await freshDatabase();
runConformance(`postgresStore on ${drizzle.name}`, outboxConformance(postgresOutboxHarness(drizzle, url)));
const ofWorkers = outboxConformance(postgresOutboxHarness(kysely, url)).filter(
  ({ topic }) => topic === "handlers",
);
runConformance(`postgresStore on ${kysely.name}`, ofWorkers);
