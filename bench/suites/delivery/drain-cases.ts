import type { Dispatcher } from "posthorn/dispatch";
import type { Case, WorkCase } from "../../suite.js";
import { dispatcherOf, fillOutbox, publication } from "./bench-outbox.js";
import type { Backlog, BenchOutbox } from "./bench-outbox.js";
import { Arrivals } from "./receiving-server.js";
import type { ReceivingServer } from "./receiving-server.js";
import { postAll } from "./signed-posts.js";
import type { Post } from "./signed-posts.js";

export interface Named {
  readonly group: string;
  readonly name: string;
}

/** Raw posts of as many events, from memory to the server. */
export function rawCase(named: Named, post: Post, size: Backlog & { inFlight: number }): Case {
  return {
    ...named,
    kind: "work",
    async run() {
      await postAll(post, size);
      return size.events;
    },
  };
}

/** A backlog that has its places before the clock starts, and ends when the last of it is settled. */
export function drainCase(
  named: Named,
  server: ReceivingServer,
  outbox: BenchOutbox,
  backlog: Backlog,
): WorkCase {
  const arrived = new Arrivals(server);
  return {
    ...named,
    kind: "work",
    async beforeTurn() {
      await outbox.empty();
      await fillOutbox(outbox, backlog);
      await arrived.begin();
    },
    async run() {
      const { delivered, failed } = await dispatcherOf(outbox.store).drain();
      if (delivered !== backlog.events || failed > 0)
        throw new Error(`Delivered ${delivered} of ${backlog.events} events, and ${failed} attempts failed.`);
      return delivered;
    },
    afterTurn: () => arrived.end(backlog.events),
  };
}

// As many requests of a host as a busy one serves at once; each publishes one event and waits until it is durable.
const PUBLISHERS = 64;

/** From the first publish to the last settle, with everything between them under way at once. */
export function wholeCase(
  named: Named,
  server: ReceivingServer,
  outbox: BenchOutbox,
  backlog: Backlog,
): WorkCase {
  const arrived = new Arrivals(server);
  let acknowledged = new Countdown(0);
  let dispatcher: Dispatcher | undefined;
  return {
    ...named,
    kind: "work",
    async beforeTurn() {
      await outbox.empty();
      await arrived.begin();
      acknowledged = new Countdown(backlog.events);
      dispatcher = dispatcherOf(outbox.store, { observer: (signal) => acknowledged.see(signal) });
      await dispatcher.start();
    },
    async run() {
      await publishAll(outbox, backlog);
      await acknowledged.reached;
      // Ends when everything is settled.
      await dispatcher?.stop();
      return backlog.events;
    },
    afterTurn: () => arrived.end(backlog.events),
  };
}

async function publishAll({ sender }: BenchOutbox, { events, keys }: Backlog): Promise<void> {
  let next = 0;
  const publishOn = async (): Promise<void> => {
    while (next < events) await sender.publish(publication(next++, keys));
  };
  await Promise.all(Array.from({ length: PUBLISHERS }, publishOn));
}

/** Resolves at so many acknowledged attempts; rejects at the first other outcome. */
class Countdown {
  readonly reached: Promise<void>;
  #left: number;
  #resolve!: () => void;
  #reject!: (error: Error) => void;

  constructor(attempts: number) {
    this.#left = attempts;
    this.reached = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  see(signal: { readonly kind: string; readonly outcome?: string; readonly message?: string }): void {
    if (signal.kind === "store_failed") this.#reject(new Error(`The store failed: ${signal.message}`));
    if (signal.kind !== "delivery_attempted") return;
    if (signal.outcome !== "acknowledged") this.#reject(new Error(`An attempt came to ${signal.outcome}.`));
    this.#left -= 1;
    if (this.#left === 0) this.#resolve();
  }
}
