import { dedupConformance } from "posthorn/testing";
import { openRedis } from "./open-redis.js";
import { CLIENTS } from "./redis-clients.js";
import { redisHarness } from "./redis-harness.js";
import { dedupModelTest } from "../conformance/dedup-model.js";
import { runConformance } from "../conformance/run-conformance.js";

const { url, missing } = await openRedis();

for (const [name, connect] of Object.entries(CLIENTS)) {
  const harness = redisHarness(url, connect);
  runConformance(`redisDedup on ${name}`, dedupConformance(harness), missing);
  dedupModelTest(`redisDedup on ${name}`, harness, { numRuns: 15, ...(missing && { missing }) });
}
