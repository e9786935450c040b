import { outboxModelTest } from "./outbox-model.js";
import { sqliteOutboxHarness } from "../sqlite/outbox-harness.js";
import { freshDatabase } from "../services.js";
import { drivers } from "../postgres/drivers.js";
import { postgresOutboxHarness } from "../postgres/outbox-harness.js";
outboxModelTest("sqlite", sqliteOutboxHarness, { numRuns: 100 });
const url = await freshDatabase();
const [driver] = drivers;
outboxModelTest("postgres", postgresOutboxHarness(driver!, url), { numRuns: 400 });
