import { memoryStore } from "posthorn/memory";
import { cursorConformance, dedupConformance, inboxConformance } from "posthorn/testing";
import { dedupModelTest } from "./dedup-model.js";
import { inboxModelTest } from "./inbox-model.js";
import { IN_PROCESS, memoryDedupHarness, memoryInboxHarness } from "./memory-harness.js";
import { runConformance } from "./run-conformance.js";

runConformance("memoryDedup", dedupConformance(memoryDedupHarness));
runConformance("memoryStore", inboxConformance(memoryInboxHarness));
runConformance(
  "memoryStore as a store of cursors",
  cursorConformance({
    capabilities: IN_PROCESS,
    open: () => Promise.resolve({ stores: [memoryStore()], close: () => Promise.resolve() }),
  }),
);

dedupModelTest("memoryDedup", memoryDedupHarness);
inboxModelTest("memoryStore", memoryInboxHarness);
