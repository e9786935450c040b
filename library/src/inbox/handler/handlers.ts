import type { Stamp } from "../../event.js";
import type { TransactionMode } from "../../store-capabilities.js";
import type { Publication } from "../../publication.js";
import type { EventOrder } from "../arrival/hold-rule.js";
import type { StopSignal } from "../../stop-signal.js";

/** A verified event that nobody has applied yet. */
export interface ReceivedEvent<Data = unknown> {
  readonly tenant: string;
  readonly source: string;
  /** The provider's id; `body_…`, a hash of the bytes, where it sends none. */
  readonly id: string;
  readonly type: string;
  /** When it happened, by the provider's word. */
  readonly time: Date | undefined;
  readonly stamp: Stamp | undefined;
  /** Where its source holds events back: its place in the sequence of its key, and what was decided. */
  readonly order?: EventOrder | undefined;
  /** The exact bytes. */
  readonly body: Uint8Array;
  /** The body as JSON, or the fields of a form, checked by the type's schema where one was given; undefined when it is neither. */
  readonly data: Data;
}

/** All that the inbox knows of an outbox: it can write events into a transaction of the host. */
export interface Publisher<Tx> {
  /** Returns without a promise where transactions are synchronous. */
  publish(events: Publication | readonly Publication[], options: { readonly tx: Tx }): unknown;
  /** Never there. It tells the compiler whose transactions a publisher takes, so that a sender of SQLite does not fit a store in Postgres. */
  readonly "~transaction"?: (tx: Tx) => void;
}

/** What every handler gets besides the event. */
export interface HandlerContext {
  /** Aborts at the handler's deadline; hand it to whatever you await. */
  readonly signal: StopSignal;
  /**
   * A key for a call to another system, the same on every run for this event: the transaction cannot take a
   * sent mail back, but its sender can tell that it was asked before. Each consumer of an event has its own keys, and a replay
   * has other ones.
   */
  readonly idempotencyKey: (step: string) => string;
  readonly logger: HandlerLogger;
}

/** Writes to the observer, with the event's identity. */
export interface HandlerLogger {
  info(message: string): void;
  warn(message: string): void;
}

/** The context where transactions are asynchronous: the transaction is open while the handler runs. */
export interface TransactionContext<Tx> extends HandlerContext {
  /** The host client's own transaction: what is written through it commits with the event, or not at all. */
  readonly tx: Tx;
}

/** What the context of a handler has besides: a comparison in its transaction. */
export interface NewestContext {
  /**
   * Whether this version of a resource is newer than every one that this consumer has handled. An equal one is not, unless this
   * event brought it: a replay of the newest event is the newest again. It is kept with what the handler writes, or not at all. An event of which it says false each time that it is asked is recorded as
   * `dropped`.
   */
  readonly newest: (resource: string, version: bigint | Date) => Promise<boolean>;
}

/** The same inside of a synchronous transaction. */
export interface InnerNewest {
  /** Whether this version of a resource is newer than every one that this consumer has handled; see `NewestContext`. */
  readonly newest: (resource: string, version: bigint | Date) => boolean;
}

/** What the context has besides where the receiver was given a publisher. */
export interface Publishing {
  /** Publishes in the handler's transaction. */
  readonly publish: (events: Publication | readonly Publication[]) => Promise<void>;
}

/** The same inside of a synchronous transaction. */
export interface InnerPublishing {
  /** Publishes in the handler's transaction. */
  readonly publish: (events: Publication | readonly Publication[]) => void;
}

/** Where handlers may await inside the transaction. What it returns is kept with the event, if it is small plain JSON. */
export type AsynchronousHandler<Tx, Data, Context = object> = (
  event: ReceivedEvent<Data>,
  context: TransactionContext<Tx> & NewestContext & Context,
) => unknown;

/**
 * Where they may not (SQLite): the outer function may await and has no transaction; the function that it
 * returns runs inside one, without awaiting. Where there is nothing to write, it returns one that does nothing: `() => {}`.
 */
export type SynchronousHandler<Tx, Data, Context = object> = (
  event: ReceivedEvent<Data>,
  context: HandlerContext,
) => OuterResult<Tx, InnerNewest & Context>;

/** What an outer function returns on SQLite: the inner one. */
export type OuterResult<Tx, Context = object> =
  | InnerHandler<Tx, Context>
  | Promise<InnerHandler<Tx, Context>>;

/** The inner function of a handler on SQLite: it runs inside the transaction, and may not await. */
export type InnerHandler<Tx, Context = object> = (tx: Tx, context: Context) => InnerResult;

/** Anything but a promise: what an asynchronous function writes after its first await would land outside of the transaction. */
export type InnerResult = string | number | bigint | boolean | null | undefined | void | NotAPromise;

type NotAPromise = object & { readonly then?: never };

/** The handler that a store of this mode runs; `P` is the receiver's publisher, undefined where it has none. */
export type Handler<
  Tx,
  Mode extends TransactionMode,
  Data = unknown,
  P = unknown,
> = Mode extends "synchronous"
  ? SynchronousHandler<Tx, Data, [P] extends [undefined] ? object : InnerPublishing>
  : AsynchronousHandler<Tx, Data, [P] extends [undefined] ? object : Publishing>;

/** What a receiver is typed by. */
export interface ReceiverTypes {
  readonly sources: string;
  readonly schemas: Schemas;
  readonly publisher: unknown;
}

/**
 * Handlers by event type. `"*"` takes what has no handler of its own; a key may name one source, as in
 * `"github:push"` or `"github:*"`. A key that names no source of the receiver, or no type of its schemas, does not compile.
 */
export type Handlers<Tx, Mode extends TransactionMode, R extends ReceiverTypes, Keys extends string> = {
  readonly [Key in Keys]: KnownKey<Key, R> extends true
    ? Handler<Tx, Mode, DataOf<R["schemas"], Key>, R["publisher"]>
    : UnknownKey<Key>;
};

/** Shown by the compiler in the place of a handler whose key is unknown: a text, because it shows a text in full. */
type UnknownKey<Key extends string> = `No source or schema is called as in "${Key}"`;

type KnownKey<Key extends string, R extends ReceiverTypes> = Key extends "*" | NamedBy<R["schemas"]>
  ? true
  : Key extends `${R["sources"]}:*`
    ? true
    : Key extends `${R["sources"]}:${infer Type}`
      ? KnownType<Type, R["schemas"]>
      : Key extends `${string}:${string}`
        ? false
        : KnownType<Key, R["schemas"]>;

// Schemas that name no types at all (the default) refuse none. A type that only schemas of single sources name is known, too.
type KnownType<Type extends string, S extends Schemas> = string extends keyof S
  ? true
  : Type extends keyof S | TypesOf<keyof S>
    ? true
    : false;

type NamedBy<S extends Schemas> = string extends keyof S ? never : keyof S;

type TypesOf<Key> = Key extends `${string}:${infer Type}` ? Type : never;

/** What JSON.parse gives, which is all that is known of an event type without a schema. */
// oxlint-disable-next-line typescript/no-explicit-any -- as JSON.parse says it
type Unchecked = any;

/** The data of a handler's key, by its schema: the key's own, or that of its type. Schemas that name no types at all promise nothing. */
export type DataOf<S extends Schemas, Key> = string extends keyof S
  ? Unchecked
  : Key extends keyof S
    ? SchemaOutput<S[Key]>
    : Key extends `${string}:${infer Type}`
      ? Type extends keyof S
        ? SchemaOutput<S[Type]>
        : Unchecked
      : Unchecked;

export type Schemas = Readonly<Record<string, Schema>>;

const ANY = "*";

/** Whether a key of handlers looks like a pattern: it would be compared as it stands, and never match. */
export function isPattern(key: string): boolean {
  return key.includes(ANY) && !new RegExp(`^([^:]+:)?\\${ANY}$`).test(key);
}

export function noPattern(key: string): string {
  return `the handler of ${JSON.stringify(key)}: a key is a whole type, "${ANY}" or "source:${ANY}", and no pattern`;
}

/**
 * Handlers or schemas by their keys. A key that begins with the name of a source belongs to that source alone. A type comes
 * from the wire and is compared with types only: a sender that calls its event `stripe:invoice.paid` or `*` must not reach
 * the handler of that key. `Map`s, so that a type called `constructor` finds nothing.
 */
export class TypeTable<Entry> {
  readonly #ofSource = new Map<string, Map<string, Entry>>();
  readonly #ofAny = new Map<string, Entry>();

  constructor(entries: Readonly<Record<string, Entry>>, sources: ReadonlySet<string>) {
    for (const [key, entry] of Object.entries(entries)) {
      const colon = key.indexOf(":");
      const source = key.slice(0, Math.max(colon, 0));
      if (colon === -1 || !sources.has(source)) this.#ofAny.set(key, entry);
      else this.#tableOf(source).set(key.slice(colon + 1), entry);
    }
  }

  /** From the most to the least particular. */
  find(source: string, type: string): Entry | undefined {
    const own = this.#ofSource.get(source);
    const exact = type === ANY ? undefined : (own?.get(type) ?? this.#ofAny.get(type));
    return exact ?? own?.get(ANY) ?? this.#ofAny.get(ANY);
  }

  #tableOf(source: string): Map<string, Entry> {
    const known = this.#ofSource.get(source) ?? new Map<string, Entry>();
    this.#ofSource.set(source, known);
    return known;
  }
}

/**
 * The part of Standard Schema (standardschema.dev) that is used here: Zod, Valibot, ArkType and others
 * all carry it, so none of them has to be known.
 */
export interface Schema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type that a schema promises. */
export type SchemaOutput<S> = S extends Schema<infer Output> ? Output : unknown;

/** Names the type of an event's data without checking it: the provider is trusted to send what it documents. */
export function typed<Data>(): Schema<Data> {
  return { "~standard": { version: 1, vendor: "posthorn", validate: (value) => ({ value: value as Data }) } };
}

/**
 * Names the types of all events of a provider that has one type for them, a union told apart by `type`, without checking any:
 * `schemas: typedEvents<Stripe.Event>()`.
 */
export function typedEvents<Union extends { readonly type: string }>(): TypedEvents<Union> {
  // Nothing to check is nothing to hold: the names are the compiler's alone.
  return {} as TypedEvents<Union>;
}

/** A schema for each `type` of a union of events. */
export type TypedEvents<Union extends { readonly type: string }> = {
  readonly [Type in Union["type"]]: Schema<Extract<Union, { readonly type: Type }>>;
};

/** One line per issue, with where it is; never the value itself. */
export function describeIssues(issues: readonly SchemaIssue[]): string {
  return issues.slice(0, 5).map(describeIssue).join("; ");
}

function describeIssue({ message, path = [] }: SchemaIssue): string {
  const steps = path.map((step) => String(typeof step === "object" ? step.key : step));
  return steps.length === 0 ? message : `${steps.join(".")}: ${message}`;
}
