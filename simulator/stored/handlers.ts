import { again } from "../../library/src/inbox/handler/again.js";
import type { HandlerContext, ReceivedEvent } from "../../library/src/inbox/handler/handlers.js";
import type { ConsumerOptions, WorkerHandler } from "../../library/src/inbox/worker/worker-options.js";
import type { Publication } from "../../library/src/publication.js";
import type { Life } from "../world/life.js";
import type { RunLog } from "../world/run-log.js";
import type { Who } from "../world/who.js";
import { bodyOf } from "../world/wire-event.js";
import { eventId, numberOfId } from "./names.js";
import type { ConsumerPlan, StreamedEvent, Trouble } from "./script.js";
import type { StoredStore } from "./stored-store.js";

/** What the handlers of a process work with. */
export interface HandlerParts {
  readonly store: StoredStore;
  readonly database: number;
  readonly life: Life;
  readonly who: Who;
  readonly log: RunLog;
  readonly events: ReadonlyMap<number, StreamedEvent>;
  /** How often each event's handler was begun: the outside world's memory, which no crash takes. */
  readonly begun: Map<string, number>;
  /** The process dies. */
  readonly die: () => void;
  /** Which version of the host this is. */
  readonly version: 1 | 2;
  readonly publishes: boolean;
}

interface Told {
  readonly number: number;
  readonly key?: string;
  readonly n: number;
}

type Received = ReceivedEvent<Told>;
type Context = Pick<HandlerContext, "signal"> & {
  readonly tx: unknown;
  readonly idempotencyKey?: HandlerContext["idempotencyKey"];
  readonly newest?: (resource: string, version: bigint) => Promise<boolean>;
  readonly publish?: (event: Publication) => Promise<void>;
};
type Consumer = ConsumerOptions<unknown, "asynchronous">;

/** The number of an event that a handler publishes is the number of its cause plus this. */
export const PASSED_ON_FROM = 1000;
const BATCH = 5;
const AGAIN_MS = 150;
// Longer than the longest that works, and short enough for those that hang.
const LONG_DEADLINE_MS = 30_000;

class Down extends Error {
  override readonly name = "Down";
}
class Useless extends Error {
  override readonly name = "Useless";
}
// One for all: a stack trace for each costs more than what it is the end of.
const DOWN = new Down("a dependency is down");
const USELESS = new Useless("nothing can be done with it");
const BROKEN = new Error("it is broken");

/** A consumer of the host, as its plan says. */
export function consumerOf(parts: HandlerParts, plan: ConsumerPlan): Consumer {
  const handler = handlerOf(parts, plan);
  return {
    handlers:
      parts.version === 1 ? { "order.paid": handler } : { "order.paid": handler, "order.new": handler },
    order:
      plan.kind === "drop_stale"
        ? {
            policy: "drop_stale",
            resource: ({ data }: Received) => data.key,
            version: ({ data }: Received) => BigInt(data.n),
          }
        : plan.order,
    // Jitter is the worker's own chance, which no seed knows.
    retry: { waitsMs: plan.waitsMs, jitter: 0 },
    ...(plan.dead !== undefined && { dead: plan.dead }),
    errors: [
      { when: { name: "Down" }, do: { pauseMs: plan.pauseMs } },
      { when: { name: "Useless" }, do: { skip: "of no use" } },
    ],
  };
}

function handlerOf(parts: HandlerParts, plan: ConsumerPlan): WorkerHandler<unknown, "asynchronous", Told> {
  const work = new HandlerWork(parts, plan);
  switch (plan.kind) {
    case "plain":
    case "drop_stale":
      return (event: Received, context) => work.handle(event, context);
    case "newest":
      return (event: Received, context) => work.compare(event, context);
    case "batch":
      return { by: "key", max: BATCH, batch: (events, context) => work.handleAll(events, context) };
    case "long":
      return {
        long: (event: Received, context) => work.longRun(event, context),
        deadlineMs: LONG_DEADLINE_MS,
      };
  }
}

/** What the handlers of one consumer do: a row for each event, and the trouble that the event's plan says. */
class HandlerWork {
  readonly #parts: HandlerParts;
  readonly #consumer: string;

  constructor(parts: HandlerParts, { name }: ConsumerPlan) {
    this.#parts = parts;
    this.#consumer = name;
  }

  handle(event: Received, context: Context): Promise<void> {
    return this.#during(event, false, async () => {
      await this.#write(event, context);
      await this.#meet(event, context);
    });
  }

  compare(event: Received, context: Context): Promise<void> {
    return this.#during(event, false, async () => {
      const { n } = event.data;
      const isNewest = await context.newest?.(resourceOf(event), BigInt(n));
      await this.#write(event, context, isNewest);
      await this.#meet(event, context);
    });
  }

  async handleAll(events: readonly Received[], context: Context): Promise<void> {
    for (const event of events) await this.handle(event, context);
  }

  longRun(event: Received, context: Omit<Context, "tx">): Promise<(tx: unknown) => Promise<void>> {
    const { life, events } = this.#parts;
    return this.#during(event, true, async () => {
      await this.#meet(event, context);
      await life.sleep(events.get(event.data.number)?.worksMs ?? 0, context.signal);
      if (context.signal.aborted) throw BROKEN;
      return (tx) => this.#write(event, { ...context, tx });
    });
  }

  async #during<T>(event: Received, isLong: boolean, work: () => Promise<T>): Promise<T> {
    const { log, who, begun } = this.#parts;
    const { number } = event.data;
    const at = { consumer: this.#consumer, number };
    begun.set(this.#nameOf(number), (begun.get(this.#nameOf(number)) ?? 0) + 1);
    log.add({ kind: "begun", isLong, ...at, ...who });
    try {
      return await work();
    } finally {
      log.add({ kind: "over", ...at, ...who });
    }
  }

  /** A row that nothing keeps from being there twice: an event applied twice is seen. */
  async #write(event: Received, context: Context, isNewest?: boolean): Promise<void> {
    const { store, log, database, events, publishes } = this.#parts;
    const { number } = event.data;
    const occasion = context.idempotencyKey?.("effect");
    const seen = { database, consumer: this.#consumer, number: numberOfId(event.id), occasion, isNewest };
    store.onCommit(context.tx, () => log.add({ kind: "effect", ...seen, order: event.order }));
    if (!publishes || isNewest === false || events.get(number)?.passesOn !== true) return;
    const passed = number + PASSED_ON_FROM;
    const body = bodyOf({ type: "passed.on", number: passed, key: undefined, handler: "works" });
    // A replay publishes again: by the same id it would be the same event.
    await context.publish?.({ type: "passed.on", id: `${eventId(passed)}_${occasion ?? ""}`, body });
  }

  async #meet(event: Received, { signal }: Pick<Context, "signal">): Promise<void> {
    const { events, begun, log } = this.#parts;
    const { number } = event.data;
    const trouble = events.get(number)?.trouble;
    const times = begun.get(this.#nameOf(number)) ?? 1;
    if (trouble?.consumer !== this.#consumer || times > trouble.times) return;
    log.count(`trouble.${trouble.kind}`);
    await this.#suffer(trouble, signal).catch((error: unknown) => {
      log.add({ kind: "threw", consumer: this.#consumer, number, what: trouble.kind });
      throw error;
    });
  }

  async #suffer({ kind }: Trouble, signal: Context["signal"]): Promise<void> {
    const { life, die, log } = this.#parts;
    switch (kind) {
      case "throws":
        throw BROKEN;
      case "pauses":
        throw DOWN;
      case "skips":
        throw USELESS;
      case "again":
        throw again({ afterMs: AGAIN_MS });
      case "slow":
        return life.sleep(20 + 150 * life.random.next());
      case "hangs":
        await life.sleep(1_000_000, signal);
        throw BROKEN;
      case "kills":
        log.fault("kill");
        die();
        await life.sleep(1);
    }
  }

  #nameOf(number: number): string {
    return `${this.#consumer} ${number}`;
  }
}

function resourceOf({ data: { key = "none" } }: Received): string {
  return key;
}
