import { LONGEST_TIMER_MS } from "../../clock.js";
import type { OptionNames } from "../../known-options.js";
import { PosthornError } from "../../posthorn-error.js";
import type { TransactionMode } from "../../store-capabilities.js";
import { checkNames } from "../check-names.js";
import type {
  HandlerContext,
  InnerHandler,
  InnerNewest,
  InnerPublishing,
  NewestContext,
  Publishing,
  ReceivedEvent,
} from "./handlers.js";
import type { InboxErrorCode } from "../inbox-errors.js";
import type { Stepping } from "./steps.js";

/** How long a long handler may take. */
export interface LongOptions {
  /** For the handler, without its end; then its signal aborts, and that counts as a failure. @default 3,600,000 */
  readonly deadlineMs?: number;
}

/** The end of a long handler where transactions are asynchronous. What it returns is kept with the event, if it is small plain JSON. */
export type AsynchronousEnd<Tx> = (tx: Tx, context: NewestContext & Publishing) => unknown;

/** The end of a long handler on a store of this mode: it runs in the transaction that marks the event as applied. */
export type LongEnd<Tx, Mode extends TransactionMode> = Mode extends "synchronous"
  ? InnerHandler<Tx, InnerNewest & InnerPublishing>
  : AsynchronousEnd<Tx>;

/** What a long handler gets besides the event. Its signal aborts at its deadline, and when it is cut off. */
export interface LongContext extends HandlerContext, Stepping {}

/**
 * A handler that runs without a transaction. It returns its end, a function of the transaction, or what is to be kept with
 * the event, or nothing.
 */
export type LongHandler<Tx, Mode extends TransactionMode, Data = unknown> = (
  event: ReceivedEvent<Data>,
  context: LongContext,
) => MaybePromise<LongEnd<Tx, Mode> | Kept>;

type MaybePromise<T> = T | Promise<T>;

// A union that has the function among others: `unknown` would take the types of the end's parameters away.
type Kept = string | number | boolean | null | undefined | void | { readonly [key: string]: unknown };

/**
 * A handler that takes minutes or hours. It runs without an open transaction, under a lease that its worker keeps; when the
 * lease is lost, its signal aborts, and nothing of it is marked. What it returns as its end writes and publishes in the
 * transaction that marks the event. A crash between the handler's work and that transaction runs the handler again.
 */
export interface Long<Handler> extends LongOptions {
  readonly long: Handler;
}

export const LONG_DEADLINE_MS = 3_600_000;

export const LONG: OptionNames<Long<unknown>> = { long: true, deadlineMs: true };

/**
 * Makes a long handler of one that is declared elsewhere. Written in place, `{ long: handler, deadlineMs: 7_200_000 }` is the same, and its
 * handler's parameters have their types by themselves.
 *
 * @example
 * const report = long(
 *   async (event: ReceivedEvent<Order>, { signal, idempotencyKey }: LongContext) => {
 *     const file = await render(event.data, { name: `${idempotencyKey("report")}.pdf`, signal });
 *     return async (tx: PoolClient) => {
 *       await tx.query("update orders set report = $1 where id = $2", [file, event.data.id]);
 *     };
 *   },
 *   { deadlineMs: 7_200_000 },
 * );
 * const worker = createWorker({ store, handlers: { "order.closed": report } });
 */
export function long<Handler>(handler: Handler, options: LongOptions = {}): Long<Handler> {
  checkNames("the long handler", options, LONG);
  const found = wrongLong({ ...options, long: handler });
  if (found === undefined) return Object.freeze({ ...options, long: handler });
  throw new PosthornError<InboxErrorCode>(
    "inbox_option_invalid",
    `The long handler cannot be made: ${found}.`,
  );
}

/** Whether a handler runs without a transaction. */
export function isLong(handler: unknown): handler is Long<unknown> {
  return typeof handler === "object" && handler !== null && "long" in handler;
}

/** What is wrong with a long handler; undefined where nothing is. */
export function wrongLong({
  deadlineMs = LONG_DEADLINE_MS,
  long: handler,
}: Long<unknown>): string | undefined {
  if (!(deadlineMs >= 1 && deadlineMs <= LONGEST_TIMER_MS))
    return `deadlineMs is ${deadlineMs}; expected 1 to ${LONGEST_TIMER_MS}`;
  if (typeof handler === "function") return undefined;
  return `its handler is of type ${typeof handler}; expected a function`;
}
