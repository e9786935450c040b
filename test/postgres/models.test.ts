import { dedupModelTest } from "../conformance/dedup-model.js";
import { inboxModelTest } from "../conformance/inbox-model.js";
import { outboxModelTest } from "../conformance/outbox-model.js";
import { postgresOutboxHarness } from "./outbox-harness.js";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";
import { postgresDedupHarness, postgresInboxHarness } from "./postgres-harness.js";

const url = await freshDatabase();

for (const driver of drivers) {
  dedupModelTest(`postgresDedup on ${driver.name}`, postgresDedupHarness(driver, url), { numRuns: 15 });
  inboxModelTest(`postgresStore on ${driver.name}`, postgresInboxHarness(driver, url), { numRuns: 15 });
  outboxModelTest(`postgresStore on ${driver.name}`, postgresOutboxHarness(driver, url), { numRuns: 15 });
}
