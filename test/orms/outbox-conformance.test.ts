import { outboxConformance } from "posthorn/testing";
import { runConformance } from "../conformance/run-conformance.js";
import { postgresOutboxHarness } from "../postgres/outbox-harness.js";
import { freshDatabase } from "../services.js";
import { drizzle } from "./subjects/drizzle.js";
import { kysely } from "./subjects/kysely.js";
import { pglite } from "./subjects/pglite.js";

// The whole kit on one ORM: rows are objects there, so that every statement needs columns of different names. What workers do
// also runs on one that renames columns, and on one that has a single connection; worker.test.ts has a worker on each of them.
const url = await freshDatabase();
runConformance(`postgresStore on ${drizzle.name}`, outboxConformance(postgresOutboxHarness(drizzle, url)));
for (const orm of [kysely, pglite]) {
  const all = outboxConformance(postgresOutboxHarness(orm, url));
  runConformance(
    `postgresStore on ${orm.name}`,
    all.filter(({ topic }) => topic === "handlers"),
  );
}
