import { sqliteDedupHarness, sqliteInboxHarness } from "./sqlite-harness.js";
import { dedupModelTest } from "../conformance/dedup-model.js";
import { inboxModelTest } from "../conformance/inbox-model.js";
import { outboxModelTest } from "../conformance/outbox-model.js";
import { sqliteOutboxHarness } from "./outbox-harness.js";

// Every history has a database file of its own, synced with every commit: fewer than in memory.
dedupModelTest("sqliteDedup", sqliteDedupHarness, { numRuns: 15 });
inboxModelTest("sqliteStore", sqliteInboxHarness, { numRuns: 15 });
outboxModelTest("sqliteStore", sqliteOutboxHarness, { numRuns: 30 });
