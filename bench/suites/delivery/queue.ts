import type { SuiteContext, WorkCase } from "../../suite.js";
import { postedEvent } from "./signed-posts.js";
import type { Post, PostedEvent } from "./signed-posts.js";
import { Arrivals } from "./receiving-server.js";
import type { ReceivingServer } from "./receiving-server.js";

/** A queue of another library that posts events, without any order. */
export interface Queue {
  /** Adds events; none are posted before `drain`. */
  fill(events: readonly PostedEvent[]): Promise<void>;
  /** Posts everything, and resolves when the queue has recorded that all of it is done. */
  drain(): Promise<void>;
}

export interface QueueParts {
  readonly context: SuiteContext;
  readonly post: Post;
  /** Whether each event is recorded as done as soon as it is, or many together. */
  readonly completes: "one by one" | "in batches";
}

export interface QueueCase {
  readonly name: string;
  readonly group: string;
  readonly missing?: string | undefined;
  readonly events: number;
  readonly keys: number;
}

/** The same signed posts by another library's queue, filled before the clock starts. */
export function queueCase(
  { events, keys, ...named }: QueueCase,
  server: ReceivingServer,
  open: () => Promise<Queue>,
): WorkCase {
  const arrived = new Arrivals(server);
  let queue: Queue | undefined;
  return {
    ...named,
    kind: "work",
    async setup() {
      queue = await open();
    },
    async beforeTurn() {
      await queue?.fill(Array.from({ length: events }, (_, index) => postedEvent(index + 1, keys)));
      await arrived.begin();
    },
    async run() {
      await queue?.drain();
      return events;
    },
    afterTurn: () => arrived.end(events),
  };
}
