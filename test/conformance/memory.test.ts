import { dedupConformance, inboxConformance } from "posthorn/testing";
import { dedupModelTest } from "./dedup-model.js";
import { inboxModelTest } from "./inbox-model.js";
import { memoryDedupHarness, memoryInboxHarness } from "./memory-harness.js";
import { runConformance } from "./run-conformance.js";

runConformance("memoryDedup", dedupConformance(memoryDedupHarness));
runConformance("memoryStore", inboxConformance(memoryInboxHarness));

dedupModelTest("memoryDedup", memoryDedupHarness);
inboxModelTest("memoryStore", memoryInboxHarness);
