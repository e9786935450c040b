import PgBoss from "pg-boss";
import type { Queue, QueueParts } from "./queue.js";
import type { PostedEvent } from "./signed-posts.js";

const QUEUE = "events";
// Chosen by trying: more fetchers or larger batches bring nothing more on this machine.
const FETCHERS = 8;
const BATCH = 100;
const CONNECTIONS = 20;

/**
 * pg-boss by its own fetch and complete: its `work` fetches twice a second at most, which would be measured instead.
 * Without supervision, which would fall on some turn or other.
 */
export async function openPgBoss(
  { context, post, completes }: QueueParts,
  { url, schema }: { readonly url: string; readonly schema: string },
): Promise<Queue> {
  const boss = new PgBoss({
    connectionString: url,
    schema,
    max: CONNECTIONS,
    supervise: false,
    schedule: false,
  });
  boss.on("error", (error) => context.say(`pg-boss: ${error.message}`));
  await boss.start();
  context.onClose(() => boss.stop({ graceful: false }));
  await boss.createQueue(QUEUE);
  const handle = async ({ id, data }: PgBoss.Job<PostedEvent>): Promise<string> => {
    await post(data);
    if (completes === "one by one") await boss.complete(QUEUE, id);
    return id;
  };
  const drainOn = async (): Promise<void> => {
    for (;;) {
      const fetched = await boss.fetch<PostedEvent>(QUEUE, { batchSize: BATCH });
      if (fetched.length === 0) return;
      const ids = await Promise.all(fetched.map((each) => handle(each)));
      if (completes === "in batches") await boss.complete(QUEUE, ids);
    }
  };
  return {
    async fill(events) {
      await boss.clearStorage();
      for (let first = 0; first < events.length; first += 1000) {
        await boss.insert(events.slice(first, first + 1000).map((data) => ({ name: QUEUE, data })));
      }
    },
    async drain() {
      await Promise.all(Array.from({ length: FETCHERS }, drainOn));
    },
  };
}
