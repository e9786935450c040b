import type { Event } from "../../event.js";
import { notify } from "../../observer.js";
import type { Observer } from "../../observer.js";
import { PosthornError } from "../../posthorn-error.js";
import { idempotencyBase } from "../arrival/arrival.js";
import type { Identified, KeyOwner } from "../arrival/arrival.js";
import { eventData } from "../arrival/event-data.js";
import type { EventOrder } from "../arrival/hold-rule.js";
import { unlessAgain } from "./again.js";
import { describeIssues } from "./handlers.js";
import type {
  AsynchronousHandler,
  HandlerContext,
  InnerHandler,
  InnerNewest,
  InnerPublishing,
  NewestContext,
  OuterResult,
  Publisher,
  Publishing,
  ReceivedEvent,
  Schema,
  SchemaResult,
  SynchronousHandler,
  TypeTable,
} from "./handlers.js";
import type { InboxErrorCode } from "../inbox-errors.js";
import { onceMisplaced, withoutTx } from "./misplaced.js";
import { Asked, versionOf } from "./newest.js";
import type { DropStale, NewestStore, VersionScope } from "./newest.js";
import type { AsynchronousEnd } from "./long.js";
import type { Handled, InboxStore } from "../inbox-store.js";
import type { Publication } from "../../publication.js";
import { encodeResult } from "./result.js";
import { checkedStep } from "./steps.js";

/** What a handler's work is made of. */
export interface WorkParts<Tx> {
  readonly store: Pick<InboxStore<Tx>, "transactions"> & Partial<NewestStore<Tx>>;
  readonly schemas: TypeTable<Schema>;
  readonly publisher: Publisher<Tx> | undefined;
  readonly observer: Observer | undefined;
}

/** An event for a handler, and until when. */
export interface Occasion {
  readonly event: Event;
  readonly identified: Identified;
  readonly order?: EventOrder | undefined;
  readonly signal: AbortSignal;
  /** @default the receiver's own handler, in the first round */
  readonly owner?: KeyOwner;
  /** Which events are dropped before their handler. @default none */
  readonly dropStale?: DropStale | undefined;
}

/** What runs in the transaction. */
export type Work<Tx> = (tx: Tx) => Promise<Handled> | Handled;

/** Carries what a handler threw past the store, whose own errors mean something else. */
export class HandlerFailure extends Error {}

/** Makes the function that runs in the transaction. On a synchronous store, the handler's outer part runs here, before it. */
export async function prepareWork<Tx>(
  parts: WorkParts<Tx>,
  handler: unknown,
  occasion: Occasion,
): Promise<Work<Tx>> {
  const received = await receivedEvent(parts.schemas, occasion);
  const context = await contextOf(parts.observer, occasion);
  const versions = versionsOf(parts, scopeOf(occasion));
  const brought = occasion.dropStale && broughtBy(occasion.dropStale, received);
  if (parts.store.transactions === "asynchronous") {
    const asynchronous = handler as AsynchronousHandler<Tx, unknown, Publishing>;
    return awaitingWork(asynchronous, received, { context, parts, versions, brought });
  }
  const synchronous = handler as SynchronousHandler<Tx, unknown, InnerPublishing>;
  const own = withoutTx(context, "synchronous");
  const inner = await outer(() => synchronous(received, own), occasion.signal);
  return synchronousWork(inner, { context, parts, versions, brought });
}

/** Whose versions the handler of an event compares, and which event brings them. */
export function scopeOf({ identified: { arrival }, owner }: Occasion): VersionScope {
  const { tenant, source, id } = arrival;
  return { consumer: owner?.consumer ?? "", tenant, source, eventId: id };
}

/** What surrounds a handler. */
export interface Surroundings<Tx> {
  readonly context: HandlerContext;
  readonly parts: WorkParts<Tx>;
  readonly versions: Versions<Tx>;
  /** What decides whether the event is dropped. */
  readonly brought: Brought | undefined;
}

/** Compares a version, in a transaction; a promise where the store's transactions are asynchronous. */
type Versions<Tx> = (tx: Tx, asked: Asked) => (...brought: Brought) => Promise<boolean> | boolean;

type Brought = readonly [resource: string, version: bigint | Date];

/** Comparisons for a handler of this consumer. */
export function versionsOf<Tx>({ store }: WorkParts<Tx>, scope: VersionScope): Versions<Tx> {
  return (tx, asked) => (resource, version) => {
    if (store.newest === undefined) throw noVersions();
    const wanted = versionOf(scope, resource, version);
    const compared = store.newest(tx, wanted);
    return typeof compared === "string"
      ? asked.note(compared, wanted)
      : compared.then((each) => asked.note(each, wanted));
  };
}

/** What an event brings; undefined where it is about no resource, or has no version. */
function broughtBy({ resource, version }: DropStale, received: ReceivedEvent): Brought | undefined {
  try {
    const [named, brought] = [resource(received), version(received)];
    return named === undefined || brought === undefined ? undefined : [named, brought];
  } catch (error) {
    throw new HandlerFailure("order", { cause: error });
  }
}

function awaitingWork<Tx>(
  handler: AsynchronousHandler<Tx, unknown, Publishing>,
  received: ReceivedEvent,
  { context, parts, versions, brought }: Surroundings<Tx>,
): Work<Tx> {
  return async (tx) => {
    const asked = new Asked();
    const within = insideOf(tx, asked, { parts, versions });
    if (brought !== undefined && !(await within.newest(...brought))) return asked.handled(undefined);
    const result = unlessAgain(await handler(received, { ...context, tx, ...within }));
    if (typeof result === "function") throw returnedFunction();
    return asked.handled(encodeResult(result, context.logger));
  };
}

/** What a handler does by Posthorn in a transaction in which it may await. */
function insideOf<Tx>(
  tx: Tx,
  asked: Asked,
  { parts, versions }: Pick<Surroundings<Tx>, "parts" | "versions">,
): NewestContext & Publishing {
  const compare = versions(tx, asked);
  return {
    newest: async (...each) => compare(...each),
    publish: async (events) => {
      await publisherOf(parts).publish(events, { tx });
    },
  };
}

/** Makes of the end of a long handler what runs in a transaction in which it may await. */
export function awaitingEnd<Tx>(
  end: AsynchronousEnd<Tx>,
  { context, parts, versions }: Surroundings<Tx>,
): Work<Tx> {
  return async (tx) => {
    const asked = new Asked();
    const result = unlessAgain(await end(tx, insideOf(tx, asked, { parts, versions })));
    return asked.handled(encodeResult(result, context.logger));
  };
}

/** Makes of an inner function what runs in the transaction. */
export function synchronousWork<Tx>(
  inner: InnerHandler<Tx, InnerPublishing & InnerNewest>,
  { context, parts, versions, brought }: Surroundings<Tx>,
): Work<Tx> {
  return (tx) => {
    const asked = new Asked();
    const newest = versions(tx, asked) as InnerNewest["newest"];
    if (brought !== undefined && !newest(...brought)) return asked.handled(undefined);
    const publish = (events: Publication | readonly Publication[]): void => {
      publisherOf(parts).publish(events, { tx });
    };
    const result: unknown = unlessAgain(inner(tx, { publish, newest }));
    // Handed on as it is: the store rolls it back, because what follows an await would land outside of the transaction.
    return isPromise(result)
      ? (result as Promise<Handled>)
      : asked.handled(encodeResult(result, context.logger));
  };
}

/** Runs a handler's outer part up to its deadline, and returns its inner one. */
export async function outer<Tx, Context>(
  run: () => OuterResult<Tx, Context>,
  signal: AbortSignal,
): Promise<InnerHandler<Tx, Context>> {
  let inner: unknown;
  try {
    inner = unlessAgain(await unlessAborted(run, signal));
  } catch (error) {
    throw new HandlerFailure("handler", { cause: error });
  }
  if (typeof inner === "function") return inner as InnerHandler<Tx, Context>;
  // Not taken for "nothing to write": whoever forgot the inner function would lose the effect, silently.
  const found =
    "The handler returned no function. On SQLite it has the form `async (event) => (tx) => { … }`; where there is nothing to " +
    "write: `return () => {}`.";
  throw new HandlerFailure("handler", {
    cause: new PosthornError<InboxErrorCode>("handler_returned_promise", found),
  });
}

/** The event as its handler gets it, checked by its schema, which has no longer than its handler. */
export async function receivedEvent(
  schemas: TypeTable<Schema>,
  { event, identified: { id, arrival }, order, signal }: Occasion,
): Promise<ReceivedEvent> {
  const { tenant, source } = arrival;
  const schema = schemas.find(source, arrival.type);
  const parsed = eventData(event.body, arrival.headers);
  const checked = schema === undefined ? { value: parsed } : await checkedBy(schema, parsed, signal);
  if (checked.issues !== undefined) {
    const invalid = `${arrival.type} does not fit its schema: ${describeIssues(checked.issues)}.`;
    throw new HandlerFailure("schema", {
      cause: new PosthornError<InboxErrorCode>("schema_invalid", invalid),
    });
  }
  const { type, time, stamp, body } = event;
  const received = { tenant, source, id, type, time, stamp, body, data: checked.value };
  return order === undefined ? received : { ...received, order };
}

/** A schema is the host's code as its handler is: what it throws is the event's failure, and is recorded. */
async function checkedBy(
  schema: Schema,
  parsed: unknown,
  signal: AbortSignal,
): Promise<SchemaResult<unknown>> {
  try {
    // One that asks somebody who never answers would keep its event, and a worker that stops, waiting for ever.
    return await unlessAborted(() => schema["~standard"].validate(parsed), signal);
  } catch (error) {
    throw new HandlerFailure("schema", { cause: error });
  }
}

export async function contextOf(
  observer: Observer | undefined,
  { identified: { id, arrival }, signal, owner }: Occasion,
): Promise<HandlerContext> {
  const base = await idempotencyBase(arrival, owner);
  const { source, type } = arrival;
  const log = (level: "info" | "warn") => (message: string) =>
    notify(observer, { kind: "handler_log", level, source, type, id, message });
  const context: HandlerContext & { once: unknown } = {
    signal,
    idempotencyKey: (step) => `${base}-${checkedStep(step)}`,
    logger: { info: log("info"), warn: log("warn") },
    once: onceMisplaced,
  };
  return context;
}

/** The publisher; throws where there is none. */
export function publisherOf<Tx>({ publisher }: WorkParts<Tx>): Publisher<Tx> {
  if (publisher !== undefined) return publisher;
  throw new PosthornError<InboxErrorCode>(
    "inbox_option_invalid",
    "publish needs a `publisher`: hand the sender to createReceiver, or to createWorker.",
  );
}

/** The event would be acknowledged, and its writes would never be made. */
function returnedFunction(): PosthornError<InboxErrorCode> {
  return new PosthornError(
    "handler_returned_function",
    "The handler returned a function, which nothing calls here. Handlers of this store have the form " +
      "`async (event, { tx }) => { … }`; those of SQLite alone return a function.",
  );
}

export function success(result: unknown, { logger }: HandlerContext): Handled {
  return { outcome: "success", result: encodeResult(result, logger) };
}

function noVersions(): PosthornError<InboxErrorCode> {
  return new PosthornError(
    "newest_invalid",
    "This store keeps no versions of resources: it has no `newest`.",
  );
}

/** What the function comes to, or a throw of the signal's reason when it aborts before; what still runs then is on its own. */
export async function unlessAborted<T>(run: () => T | Promise<T>, signal: AbortSignal): Promise<T> {
  const listening = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { signal: listening.signal });
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([run(), aborted]);
  } finally {
    listening.abort();
  }
}

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}
