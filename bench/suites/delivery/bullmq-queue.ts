import { Queue as BullQueue, Worker } from "bullmq";
import type { Queue, QueueParts } from "./queue.js";
import type { PostedEvent } from "./signed-posts.js";
import { IN_FLIGHT } from "./signed-posts.js";

const NAME = "events";

/** BullMQ on a Redis that keeps nothing on disk, as fast as it can be: what is done is removed at once. */
export async function openBullMq({ context, post }: QueueParts, port: number): Promise<Queue> {
  const connection = { host: "127.0.0.1", port, maxRetriesPerRequest: null };
  const queue = new BullQueue<PostedEvent>(NAME, { connection });
  context.onClose(() => queue.close());
  await queue.waitUntilReady();
  const options = { removeOnComplete: true, removeOnFail: true };
  let left = 0;
  return {
    async fill(events) {
      for (let first = 0; first < events.length; first += 1000) {
        await queue.addBulk(
          events.slice(first, first + 1000).map((data) => ({ name: NAME, data, opts: options })),
        );
      }
      left = events.length;
    },
    async drain() {
      const worker = new Worker<PostedEvent>(NAME, ({ data }) => post(data), {
        connection,
        concurrency: IN_FLIGHT,
      });
      await new Promise<void>((resolve, reject) => {
        worker.on("completed", () => {
          left -= 1;
          if (left === 0) resolve();
        });
        worker.on("failed", (_, error) => reject(error));
        worker.on("error", reject);
      });
      await worker.close();
    },
  };
}
