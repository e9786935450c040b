import { dedupConformance } from "posthorn/testing";
import { openRedis } from "../redis/open-redis.js";
import { CLIENTS } from "../redis/redis-clients.js";
import { redisHarness } from "../redis/redis-harness.js";
import { dedupModelTest } from "./dedup-model.js";
import { runConformance } from "./run-conformance.js";

const { url, missing } = await openRedis();

for (const [name, connect] of Object.entries(CLIENTS)) {
  const harness = redisHarness(url, connect);
  runConformance(`redisDedup on ${name}`, dedupConformance(harness), missing);
  dedupModelTest(`redisDedup on ${name}`, harness, { numRuns: 15, ...(missing && { missing }) });
}
