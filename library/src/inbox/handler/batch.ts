import type { OptionNames } from "../../known-options.js";
import { PosthornError } from "../../posthorn-error.js";
import type { TransactionMode } from "../../store-capabilities.js";
import { checkNames } from "../check-names.js";
import type {
  HandlerContext,
  InnerPublishing,
  OuterResult,
  Publishing,
  ReceivedEvent,
  TransactionContext,
} from "./handlers.js";
import type { InboxErrorCode } from "../inbox-errors.js";

/** How much of a lane a batch takes at once. */
export interface BatchOptions {
  /** The waiting events of one key, in their order. */
  readonly by: "key";
  /** How many of them at most, from 1 to 100. Events that wait for the same handler, of one megabyte together, make a batch. */
  readonly max: number;
}

/** Events of one key, in their order; at least one. */
export type EventBatch<Data> = readonly [ReceivedEvent<Data>, ...ReceivedEvent<Data>[]];

/**
 * What a batch gets besides its events. It has no idempotency keys: after a failure its events are handled one by one. It
 * has no `newest` either: its events are in the order of their key, and a comparison would not know which of them asks.
 */
export type BatchContext = Omit<HandlerContext, "idempotencyKey">;

/** A batch where handlers may await inside the transaction. */
export type AsynchronousBatch<Tx, Data, Context = object> = (
  events: EventBatch<Data>,
  context: Omit<TransactionContext<Tx>, "idempotencyKey"> & Context,
) => unknown;

/** A batch where they may not (SQLite): the outer function gets the events, the inner one runs once in the transaction. */
export type SynchronousBatch<Tx, Data, Context = object> = (
  events: EventBatch<Data>,
  context: BatchContext,
) => OuterResult<Tx, Context>;

/** The handler of a batch that a store of this mode runs. */
export type BatchHandler<Tx, Mode extends TransactionMode, Data = unknown> = Mode extends "synchronous"
  ? SynchronousBatch<Tx, Data, InnerPublishing>
  : AsynchronousBatch<Tx, Data, Publishing>;

/**
 * A handler of the waiting events of one key: they are handled in one call and one transaction, and all of them are
 * applied, or none is. After a failure they are handled one by one, by the same handler with one event each, so that those
 * before the one at fault are applied. What a batch returns is not kept.
 */
export interface Batch<Handler> extends BatchOptions {
  readonly batch: Handler;
}

const MOST_IN_BATCH = 100;

export const BATCH: OptionNames<Batch<unknown>> = { batch: true, by: true, max: true };

/**
 * Makes a batch of a handler that is declared elsewhere. Written in place, `{ batch: handler, by: "key", max: 50 }` is the
 * same, and its handler's parameters have their types by themselves.
 *
 * @example
 * const readings = batch({ by: "key", max: 50 }, async (events: EventBatch<Reading>, { tx }: { tx: PoolClient }) => {
 *   await tx.query("insert into reading select * from jsonb_to_recordset($1) as r (meter text, value int)", [
 *     JSON.stringify(events.map(({ data }) => data)),
 *   ]);
 * });
 * const worker = createWorker({ store, handlers: { "meter.read": readings } });
 */
export function batch<Handler>(options: BatchOptions, handler: Handler): Batch<Handler> {
  checkNames("the batch", options, BATCH);
  const found = wrongBatch({ ...options, batch: handler });
  if (found === undefined) return Object.freeze({ ...options, batch: handler });
  throw new PosthornError<InboxErrorCode>("inbox_option_invalid", `The batch cannot be made: ${found}.`);
}

/** Whether a handler is one of many events at once. */
export function isBatch(handler: unknown): handler is Batch<unknown> {
  return typeof handler === "object" && handler !== null && "batch" in handler;
}

/** What is wrong with a batch; undefined where nothing is. */
export function wrongBatch({ by, max, batch: handler }: Batch<unknown>): string | undefined {
  // Types cannot keep a host that is not written in TypeScript from another word.
  if ((by as string) !== "key") return `by is ${JSON.stringify(by)}; expected "key"`;
  if (!Number.isInteger(max) || max < 1 || max > MOST_IN_BATCH)
    return `max is ${max}; expected a whole number from 1 to ${MOST_IN_BATCH}`;
  if (typeof handler === "function") return undefined;
  return `its handler is of type ${typeof handler}; expected a function`;
}
