import { systemClock } from "../../clock.js";
import type { Clock } from "../../clock.js";
import { consumerNameFault, DEFAULT_HANDLER, handlerId } from "../../consumer-name.js";
import type { DeadPolicy } from "../../lanes/dead.js";
import { checkStore } from "../../given-store.js";
import type { HandlerConsumer } from "../../lanes/handler-consumer.js";
import type { OptionNames } from "../../known-options.js";
import type { Observer } from "../../observer.js";
import type { TransactionMode } from "../../store-capabilities.js";
import { checkRetry } from "../../work/retry-policy.js";
import type { RetryOptions, RetryPolicy } from "../../work/retry-policy.js";
import { checkErrorRules } from "../handler/error-rules.js";
import type { CheckedRule, ErrorRule } from "../handler/error-rules.js";
import { isBatch } from "../handler/batch.js";
import type { Batch, BatchHandler } from "../handler/batch.js";
import { isLong } from "../handler/long.js";
import type { Long, LongHandler } from "../handler/long.js";
import { TypeTable } from "../handler/handlers.js";
import type { DataOf, Handler, Publisher, Schema, Schemas } from "../handler/handlers.js";
import { checkDropStale } from "../handler/newest.js";
import type { DropStale, NewestStore } from "../handler/newest.js";
import { unobserved } from "../unobserved.js";
import { checkConsumers, invalid, wrongConsumer } from "./check-worker.js";
import { HandlerTable, sourcesIn } from "./handler-table.js";
import type { WorkerStore } from "./worker-store.js";

/** What a worker runs for events of a type: a handler of one event, a batch, or a long handler. */
export type WorkerHandler<Tx, Mode extends TransactionMode, Data = unknown> =
  | Handler<Tx, Mode, Data>
  | Batch<BatchHandler<Tx, Mode, Data>>
  | Long<LongHandler<Tx, Mode, Data>>;

/**
 * Handlers by event type. Where schemas name types, each handler's events are typed by its schema, and a type that no schema
 * names does not compile.
 */
export type WorkerHandlers<Tx, Mode extends TransactionMode, S extends Schemas> = {
  readonly [Key in WorkerKeys<S>]?: WorkerHandler<Tx, Mode, DataOf<S, Key>>;
};

type WorkerKeys<S extends Schemas> = string extends keyof S
  ? string
  : Extract<keyof S, string> | "*" | `${string}:${Extract<keyof S, string> | "*"}`;

/** What one consumer of stored events does. */
export interface ConsumerOptions<Tx, Mode extends TransactionMode, S extends Schemas = Schemas> {
  /** By event type; `"*"` takes what has no handler of its own, and a key may name one source: `"github:push"`. */
  readonly handlers: WorkerHandlers<Tx, Mode, S>;
  /** Patterns of the sources whose events it gets. @default every source */
  readonly sources?: readonly string[];
  /**
   * What is in order: the events of one key, or none. `drop_stale`: in order by key, and an event that brings an older
   * version of its resource than one that was handled is dropped. @default "key"
   */
  readonly order?: "key" | "none" | DropStale;
  /** When a handler that failed runs again. @default 1 s, 4 s, 16 s … 15 times in 2.75 days */
  readonly retry?: RetryOptions;
  /** What is done about errors of its handlers; the first rule that matches counts. @default none: every error is tried again by `retry` */
  readonly errors?: readonly ErrorRule[];
  /** What an event that is given up does to its lane. @default "halt" where it has a key, "skip" where it has none */
  readonly dead?: DeadPolicy;
}

/** What a worker is made of. */
export interface WorkerOptions<Tx, Mode extends TransactionMode, S extends Schemas = Schemas> extends Partial<
  ConsumerOptions<Tx, Mode, S>
> {
  readonly store: WorkerStore<Tx, Mode> & Partial<NewestStore<Tx, Mode>>;
  /**
   * Several consumers of each event, by name, in place of `handlers`: each has its own lanes, retries and dead letters.
   * `sources`, `order`, `retry`, `errors` and `dead` belong to each of them then.
   */
  readonly consumers?: Readonly<Record<string, ConsumerOptions<Tx, Mode, S>>>;
  /** Checks and types the data of events, by type. */
  readonly schemas?: S;
  /** Lets handlers publish in their transaction. */
  readonly publisher?: Publisher<Tx>;
  /** How many handlers run at once; on Postgres no more than the pool's connections less 2. @default as many as that allows, else 16 */
  readonly slots?: number;
  /** @default 30,000 */
  readonly handlerDeadlineMs?: number;
  /** How long a claim is held before another process may take it; more than `handlerDeadlineMs` + 5,000. @default 60,000 */
  readonly leaseMs?: number;
  /** How long a handler may wait for a database connection. @default 5,000 */
  readonly acquireMs?: number;
  /** How long `stop` lets long handlers go on, before their signals abort and their leases are given back. @default 10,000 */
  readonly stopGraceMs?: number;
  /** How often to look for work that no hint announced. @default 250 */
  readonly pollMs?: number;
  readonly clock?: Clock;
  /** Hears everything. @default each kind of failure once on stderr, and nothing where NODE_ENV is "production" */
  readonly observer?: Observer;
}

/** A consumer, checked. */
export interface CheckedConsumer {
  readonly consumer: HandlerConsumer;
  readonly handlers: HandlerTable<unknown>;
  readonly retry: RetryPolicy;
  readonly errors: readonly CheckedRule[];
  readonly dropStale: DropStale | undefined;
  /** How many events of a lane a claim of it may have: as many as its largest batch takes. */
  readonly mostEvents: number;
}

/** The options, checked and complete. */
export interface WorkerSettings {
  readonly consumers: ReadonlyMap<string, CheckedConsumer>;
  readonly schemas: TypeTable<Schema>;
  readonly slots: number;
  /** How many events of a lane may share a transaction where each has a handler's call of its own. */
  readonly plainEvents: number;
  readonly handlerDeadlineMs: number;
  readonly leaseMs: number;
  readonly acquireMs: number;
  readonly stopGraceMs: number;
  readonly pollMs: number;
  readonly clock: Clock;
  readonly observer: Observer | undefined;
  readonly random: () => number;
}

const CONSUMER: OptionNames<ConsumerOptions<never, never>> = {
  handlers: true,
  sources: true,
  order: true,
  retry: true,
  errors: true,
  dead: true,
};
const WORKER: OptionNames<WorkerOptions<never, never>> = {
  store: true,
  ...CONSUMER,
  consumers: true,
  schemas: true,
  publisher: true,
  slots: true,
  handlerDeadlineMs: true,
  leaseMs: true,
  acquireMs: true,
  stopGraceMs: true,
  pollMs: true,
  clock: true,
  observer: true,
};

// Two connections stay free: for the sequencer and the settlement of failures. With all of them in handlers, nothing
// that could end the wait would get one.
const KEPT_FREE = 2;
const DEFAULT_SLOTS = 16;
const MOST_EVENTS = 8;
// From the end of a handler to its commit: a slow one must not let another process begin.
const MARGIN_MS = 5000;

export function checkWorker<Tx, Mode extends TransactionMode>(
  options: WorkerOptions<Tx, Mode>,
): WorkerSettings {
  const { store, handlerDeadlineMs = 30_000, leaseMs = 60_000, acquireMs = 5000, pollMs = 250 } = options;
  checkStore("worker", store, "apply");
  checkConsumers(options, { worker: WORKER, consumer: CONSUMER });
  const { stopGraceMs = 10_000 } = options;
  // A drain works with one slot on any pool; `start` refuses one that is too small.
  const most = Math.max(1, mostSlots(store));
  const slots = options.slots ?? Math.min(DEFAULT_SLOTS, most);
  for (const [name, value] of Object.entries({ slots, handlerDeadlineMs, leaseMs, acquireMs, pollMs })) {
    if (!Number.isFinite(value) || value < 1) throw invalid(`${name} is ${value}; expected 1 or more`);
  }
  if (!Number.isInteger(slots)) throw invalid(`slots is ${slots}; expected a whole number`);
  if (!Number.isFinite(stopGraceMs) || stopGraceMs < 0)
    throw invalid(`stopGraceMs is ${stopGraceMs}; expected milliseconds, 0 or more`);
  if (slots > most) {
    throw invalid(
      `slots is ${slots}; expected at most ${most} with a pool of ${store.connections}, of which ${KEPT_FREE} connections ` +
        "stay free: with every connection in a handler, nothing could be sequenced or settled",
    );
  }
  if (leaseMs <= handlerDeadlineMs + MARGIN_MS) {
    throw invalid(
      `leaseMs is ${leaseMs}; expected more than handlerDeadlineMs + ${MARGIN_MS}, which is ` +
        `${handlerDeadlineMs + MARGIN_MS}: a handler could outlive its lease, and be run by two`,
    );
  }
  const { clock = systemClock } = options;
  const observer = options.observer ?? unobserved({ part: "worker", handlers: handled(options) });
  // Where handlers cannot await in the transaction, their outer parts run before it: those of a run would all run
  // before the first of its events is applied.
  const plainEvents = store.transactions === "synchronous" ? 1 : MOST_EVENTS;
  const consumers = consumersOf(options, { plainEvents, store });
  const schemas = new TypeTable(options.schemas ?? {}, sourcesIn(options.schemas ?? {}));
  const times = { handlerDeadlineMs, leaseMs, acquireMs, stopGraceMs, pollMs };
  return { consumers, schemas, slots, plainEvents, ...times, clock, observer, random: Math.random };
}

function handled({
  handlers,
  consumers = {},
}: Pick<WorkerOptions<never, never>, "handlers" | "consumers">): string[] {
  return [handlers ?? {}, ...Object.values(consumers).map((each) => each.handlers)].flatMap((each) =>
    Object.keys(each),
  );
}

/** How many handlers may run at once; Infinity where they take no connections. */
export function mostSlots({ connections }: Pick<WorkerStore<never>, "connections">): number {
  return connections === undefined ? Infinity : connections - KEPT_FREE;
}

interface ConsumerLimits {
  readonly plainEvents: number;
  readonly store: object;
}

function consumersOf<Tx, Mode extends TransactionMode>(
  options: WorkerOptions<Tx, Mode>,
  limits: ConsumerLimits,
): ReadonlyMap<string, CheckedConsumer> {
  const { handlers, consumers } = options;
  const named: [string, ConsumerOptions<Tx, Mode>][] =
    handlers === undefined
      ? Object.entries(consumers ?? {}).map(([name, each]) => [idOf(name), each])
      : [[DEFAULT_HANDLER, { ...options, handlers }]];
  return new Map(named.map(([id, each]) => [id, checkedConsumer(id, each, limits)]));
}

function idOf(name: string): string {
  const fault = consumerNameFault(name);
  if (fault !== undefined) throw invalid(fault);
  return handlerId(name);
}

function checkedConsumer<Tx, Mode extends TransactionMode>(
  id: string,
  { handlers, sources = ["*"], order = "key", retry, dead, errors }: ConsumerOptions<Tx, Mode>,
  { plainEvents, store }: ConsumerLimits,
): CheckedConsumer {
  const found = wrongConsumer({ handlers, sources, order, dead });
  if (found !== undefined) throw invalid(found);
  const consumer: HandlerConsumer = {
    id,
    sources,
    types: Object.keys(handlers),
    order: typeof order === "string" ? order : "key",
    dead,
  };
  const batches = Object.values(handlers).filter((handler) => isBatch(handler));
  const mostEvents = Math.max(plainEvents, ...batches.map(({ max }) => max));
  const dropStale = checkDropStale(typeof order === "string" ? undefined : order, store);
  if (dropStale !== undefined && Object.values(handlers).some((each) => isBatch(each) || isLong(each))) {
    throw invalid(
      "order drop_stale judges one event in its transaction; it cannot be used with a batch or a long handler",
    );
  }
  const table = new HandlerTable<unknown>(sources, handlers);
  return {
    consumer,
    handlers: table,
    retry: checkRetry(retry),
    errors: checkErrorRules(errors),
    dropStale,
    mostEvents,
  };
}
