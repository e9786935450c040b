import { Logger, makeWorkerUtils, run } from "graphile-worker";
import type { Pool } from "pg";
import type { Queue, QueueParts } from "./queue.js";
import type { PostedEvent } from "./signed-posts.js";
import { IN_FLIGHT } from "./signed-posts.js";

const NAME = "post_event";
// Chosen by trying: 2,000 bring nothing more.
const LOCAL_QUEUE = 500;
const silent = new Logger(() => () => undefined);

interface GraphileParts {
  readonly pool: Pool;
  readonly schema: string;
  /** Fetches in batches, as its guide to performance says; without it each worker asks for its next job, as it comes. */
  readonly localQueue: boolean;
}

/** graphile-worker with as many workers as we have slots. */
export async function openGraphile(
  { context, post, completes }: QueueParts,
  { pool, schema, localQueue }: GraphileParts,
): Promise<Queue> {
  const batchDelay = completes === "in batches" ? 0 : -1;
  const worker = {
    schema,
    concurrentJobs: IN_FLIGHT,
    pollInterval: 500,
    ...(localQueue ? { localQueue: { size: LOCAL_QUEUE } } : {}),
    completeJobBatchDelay: batchDelay,
    failJobBatchDelay: batchDelay,
    logger: silent,
  };
  const utils = await makeWorkerUtils({ pgPool: pool, schema, logger: silent });
  await utils.migrate();
  context.onClose(() => utils.release());
  let left = 0;
  return {
    async fill(events) {
      await pool.query(`truncate ${schema}._private_jobs`);
      for (let first = 0; first < events.length; first += 1000) {
        const specs = events
          .slice(first, first + 1000)
          .map((payload) => ({ identifier: NAME, payload: { ...payload } }));
        await utils.addJobs(specs);
      }
      left = events.length;
    },
    async drain() {
      const runner = await run({
        pgPool: pool,
        preset: { worker },
        noHandleSignals: true,
        taskList: { [NAME]: (payload) => post(payload as PostedEvent) },
      });
      // Told when it is written back, not when the post has ended.
      await new Promise<void>((resolve, reject) => {
        runner.events.on("job:complete", ({ error }) => {
          if (error instanceof Error) reject(error);
          left -= 1;
          if (left === 0) resolve();
        });
      });
      await runner.stop();
    },
  };
}
