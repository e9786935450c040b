import { outboxConformance } from "posthorn/testing";
import { memoryOutboxHarness } from "./memory-harness.js";
import { outboxModelTest } from "./outbox-model.js";
import { runConformance } from "./run-conformance.js";

runConformance("memoryStore", outboxConformance(memoryOutboxHarness));

outboxModelTest("memoryStore", memoryOutboxHarness, { numRuns: 200 });
