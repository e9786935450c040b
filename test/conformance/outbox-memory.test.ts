import { outboxConformance } from "posthorn/testing";
import { memoryOutboxHarness } from "./memory-harness.js";
import { runConformance } from "./run-conformance.js";

runConformance("memoryOutbox", outboxConformance(memoryOutboxHarness));
