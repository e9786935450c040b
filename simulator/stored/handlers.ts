import { again } from "../../library/src/inbox/handler/again.js";
import type { HandlerContext, ReceivedEvent } from "../../library/src/inbox/handler/handlers.js";
import type { LongContext } from "../../library/src/inbox/handler/long.js";
import type { ConsumerOptions, WorkerHandler } from "../../library/src/inbox/worker/worker-options.js";
import type { Publication } from "../../library/src/publication.js";
import type { Life } from "../world/life.js";
import type { RunLog } from "../world/run-log.js";
import type { Who } from "../world/who.js";
import { bodyOf } from "../world/wire-event.js";
import { eventId, numberOfId } from "./names.js";
import type { Outside } from "./outside.js";
import type { ConsumerPlan, StreamedEvent, TroubleKind } from "./script.js";
import type { AtConsumer } from "./sightings.js";
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
  readonly outside: Outside;
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
type Stepping = Omit<Context, "tx"> & Pick<LongContext, "once">;
type Consumer = ConsumerOptions<unknown, "asynchronous">;

/** The number of an event that a handler publishes is the number of its cause plus this. */
export const PASSED_ON_FROM = 1000;
const BATCH = 5;
/** So often a consumer's rule lets its handler run again at once. */
export const TIMES_NOW = 2;
export const AGAIN_MS = 150;
// Longer than the longest that works, and short enough for those that hang.
const LONG_DEADLINE_MS = 30_000;

class Down extends Error {
  override readonly name = "Down";
}
class Useless extends Error {
  override readonly name = "Useless";
}
class Hopeless extends Error {
  override readonly name = "Hopeless";
}
class Collision extends Error {
  override readonly name = "Collision";
}
// One for all: a stack trace for each costs more than what it is the end of.
const HOPELESS = new Hopeless("it will never work");
const COLLISION = new Collision("somebody else was there first");
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
      { when: { name: "Hopeless" }, do: { dead: true } },
      { when: { name: "Collision" }, do: { retryNow: TIMES_NOW } },
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

/** What handlers throw, as an attempt tells of it. */
export const THROWN = {
  pauses: DOWN.message,
  skips: USELESS.message,
  hopeless: HOPELESS.message,
  collides: COLLISION.message,
  again: "it asks for its event again",
} as const;

/** What the handlers of one consumer do: a row for each event, and the trouble that the event's plan says. */
class HandlerWork {
  readonly #parts: HandlerParts;
  readonly #consumer: string;
  readonly #takesSteps: boolean;

  constructor(parts: HandlerParts, { name, takesSteps }: ConsumerPlan) {
    this.#parts = parts;
    this.#consumer = name;
    this.#takesSteps = takesSteps;
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
      await this.#write(event, context, { isNewest });
      await this.#meet(event, context);
    });
  }

  async handleAll(events: readonly Received[], context: Context): Promise<void> {
    for (const event of events) await this.handle(event, context);
  }

  longRun(event: Received, context: Stepping): Promise<(tx: unknown) => Promise<void>> {
    const { life, events } = this.#parts;
    return this.#during(event, true, async (run) => {
      const steps = new StepWork(this.#parts, { consumer: this.#consumer, number: event.data.number, run });
      const charge = this.#takesSteps ? await steps.take("charge", context) : undefined;
      await this.#meet(event, context);
      await life.sleep(events.get(event.data.number)?.worksMs ?? 0, context.signal);
      if (context.signal.aborted) throw BROKEN;
      if (this.#takesSteps) await steps.take("mail", context);
      return (tx) => this.#write(event, { ...context, tx }, { charge });
    });
  }

  /** `work` is told which run of the handler this is. */
  async #during<T>(event: Received, isLong: boolean, work: (run: number) => Promise<T>): Promise<T> {
    const { log, who, begun } = this.#parts;
    const { number } = event.data;
    const at = { consumer: this.#consumer, number };
    const run = (begun.get(nameOf(at)) ?? 0) + 1;
    begun.set(nameOf(at), run);
    log.add({ kind: "begun", isLong, ...at, ...who });
    try {
      return await work(run);
    } finally {
      log.add({ kind: "over", ...at, ...who });
    }
  }

  /** A row that nothing keeps from being there twice: an event applied twice is seen. */
  async #write(event: Received, context: Context, { isNewest, charge }: Found = {}): Promise<void> {
    const { store, log, database, events, publishes } = this.#parts;
    const { number } = event.data;
    const occasion = context.idempotencyKey?.("effect");
    const at = { consumer: this.#consumer, number: numberOfId(event.id) };
    const seen = { database, ...at, occasion, isNewest, charge };
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
    const times = begun.get(nameOf({ consumer: this.#consumer, number })) ?? 1;
    if (trouble?.consumer !== this.#consumer || times > trouble.times) return;
    const { kind } = trouble;
    if (kind === "kills_in_step") return;
    log.count(`trouble.${kind}`);
    await this.#suffer(kind, signal).catch((error: unknown) => {
      log.add({ kind: "threw", consumer: this.#consumer, number, what: kind });
      throw error;
    });
  }

  async #suffer(kind: Exclude<TroubleKind, "kills_in_step">, signal: Context["signal"]): Promise<void> {
    const { life, die, log } = this.#parts;
    switch (kind) {
      case "throws":
        throw BROKEN;
      case "pauses":
        throw DOWN;
      case "skips":
        throw USELESS;
      case "hopeless":
        throw HOPELESS;
      case "collides":
        throw COLLISION;
      case "again":
        throw again({ afterMs: AGAIN_MS, because: THROWN.again });
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
}

/** What a handler has found out before it writes. */
interface Found {
  readonly isNewest?: boolean | undefined;
  readonly charge?: string | undefined;
}

/** The steps of one run of a long handler: one that can look for what it has done, and one that cannot. */
class StepWork {
  readonly #parts: HandlerParts;
  readonly #of: AtConsumer & { readonly run: number };

  constructor(parts: HandlerParts, of: AtConsumer & { readonly run: number }) {
    this.#parts = parts;
    this.#of = of;
  }

  async take(step: "charge" | "mail", { once, idempotencyKey }: Stepping): Promise<string> {
    const { life, outside, log } = this.#parts;
    const isChecked = step === "charge";
    const of = { ...this.#of, step, idem: idempotencyKey?.(step) ?? step };
    const effect = await once(step, {
      ...(isChecked && { check: (idem: string) => outside.find(life, idem) }),
      act: (idem) => {
        const asked = { ...of, idem };
        log.add({ kind: "acting", isChecked, ...asked });
        return outside.act(life, asked, () => this.#dieOf(step));
      },
    });
    log.add({ kind: "stepped", ...of });
    return effect;
  }

  /** The other side has done it, and its answer comes too late. */
  #dieOf(step: string): void {
    const { events, log, die, life } = this.#parts;
    const { consumer, number, run } = this.#of;
    const trouble = events.get(number)?.trouble;
    if (trouble?.kind !== "kills_in_step" || trouble.consumer !== consumer) return;
    if (step !== "charge" || run > trouble.times || !life.isAlive) return;
    log.count(`trouble.${trouble.kind}`);
    log.fault("kill");
    die();
  }
}

function nameOf({ consumer, number }: AtConsumer): string {
  return `${consumer} ${number}`;
}

function resourceOf({ data: { key = "none" } }: Received): string {
  return key;
}
