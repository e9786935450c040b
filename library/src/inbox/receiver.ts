import { LONGEST_TIMER_MS, systemClock } from "../clock.js";
import type { Clock } from "../clock.js";
import type { Event } from "../event.js";
import type { OptionNames } from "../known-options.js";
import { notify } from "../observer.js";
import type { Observer } from "../observer.js";
import { isPosthornError, PosthornError } from "../posthorn-error.js";
import { readEvents } from "../signature/read-events.js";
import type { Reply, SignedRequest, Verified, Verifier } from "../signature/scheme.js";
import { schemeAnswering } from "../signature/success-reply.js";
import { verify } from "../signature/verify.js";
import { Applier } from "./applier.js";
import type { Proof, Shown } from "./arrival/arrival.js";
import { checkHandlers, checkReceiver, duration, positive, shown } from "./check-receiver.js";
import type { KnownOptions } from "./check-receiver.js";
import { Keeper } from "./keeper.js";
import type { KeeperStore } from "./keeper.js";
import { TypeTable } from "./handler/handlers.js";
import { checkDropStale, type DropStale, type NewestStore } from "./handler/newest.js";
import type { Handlers, Publisher, ReceiverTypes, Schemas } from "./handler/handlers.js";
import type { InboxErrorCode } from "./inbox-errors.js";
import type { InboxStore, PurgeLimits, PurgeReport } from "./inbox-store.js";
import type { TransactionMode } from "../store-capabilities.js";
import { keptHeadersText } from "./arrival/kept-headers.js";
import { isEncoded, refusalOf } from "./arrival/refusal.js";
import type { RequestRefusal } from "./arrival/refusal.js";
import { checkNamed, repairableSource, unproved } from "./repairable.js";
import type { Logged, Repairable } from "./repairable.js";
import { nameSources } from "./source-names.js";
import { createSource } from "./source.js";
import type { Source, SourceOptions } from "./source.js";
import { unobserved } from "./unobserved.js";
import { replyTo, UNAVAILABLE, worstOf } from "./verdict.js";
import type { Verdict } from "./verdict.js";
import type { StopSignal } from "../stop-signal.js";
import { storeFailed } from "../store-failed.js";
import { joinParties, witnessed } from "../witness.js";
import { repeat } from "../work/repeat.js";

export type { Logged, Repairable, Reply, RequestRefusal, SignedRequest };

/** What a receiver is made of. */
export interface ReceiverOptions<
  Tx,
  Mode extends TransactionMode,
  R extends ReceiverTypes = ReceiverTypes,
  Keys extends string = string,
> {
  readonly store: InboxStore<Tx, Mode> & Partial<NewestStore<Tx, Mode>>;
  /** By name: a verifier, or a verifier with more to say about its events. */
  readonly sources: Readonly<Record<R["sources"], Verifier | SourceOptions>>;
  readonly handlers: Handlers<Tx, Mode, R, Keys>;
  /** None: handlers run in the request. With `"store_first"` a receiver has no handlers, and a worker does. */
  readonly mode?: NoMode | undefined;
  /** Drops events that bring an older version of their resource than one that was handled. @default none is dropped */
  readonly order?: DropStale;
  /** Checks and types the data of events, by type: any Standard Schema, or `typed<Data>()` to type alone. */
  readonly schemas?: R["schemas"];
  /** Lets handlers publish in their transaction. */
  readonly publisher?: Publisher<Tx> & R["publisher"];
  /** @default 30,000 */
  readonly handlerDeadlineMs?: number;
  /** How long a request may wait for a database connection. @default 1,000 */
  readonly acquireMs?: number;
  /** The largest body of any source. @default what the source's provider sends at most, or else 1 MiB */
  readonly maxBodyBytes?: number;
  readonly clock?: Clock;
  /** Hears everything. @default each kind of refusal and failure once on stderr, and nothing where NODE_ENV is "production" */
  readonly observer?: Observer;
}

/** Shown by the compiler in the place of a mode that is none: a text, because it shows a text in full. */
type NoMode =
  'Expected mode: "store_first", with the handlers at createWorker({ store, handlers }), or no mode';

/** What to answer, and why. */
export interface ReceiverReply extends Reply {
  /** As in the header `posthorn-verdict`; undefined where no event was judged: a refused request, a handshake. */
  readonly verdict?: Verdict;
}

/** Receives signed requests and answers them; `SourceName` are the names of its sources. */
export interface Receiver<SourceName extends string = string> {
  /** The largest body of a source, in bytes: a framework adapter reads no further. */
  maxBodyBytes(source: SourceName): number;
  /** Verifies a request, applies each of its events once, and says what to answer. Never throws for what a sender can do. */
  receive(source: SourceName, request: SignedRequest): Promise<ReceiverReply>;
  /**
   * Applies a delivery that the provider's own log tells of, once, as if it had been received. Nobody signed the log: whoever
   * calls this vouches for it. `posthorn/repair` does, for what it read from the provider's API.
   */
  repair(source: SourceName, logged: Logged): Promise<Verdict>;
  /** Says whose events a source has, and how long they are remembered. Throws for a source that cannot be repaired. */
  repairable(source: SourceName): Repairable;
  /** Says no to a request that an adapter could not even read, and tells the observer why. */
  refuse(source: SourceName, refusal: RequestRefusal): Reply;
  /** Forgets events whose window has passed, and with `store_first` their names. Call it from a cron or a serverless function, or let `keepPurged` do it. */
  purge(limits?: Partial<PurgeLimits>): Promise<PurgeReport>;
  /** Purges again and again until `stop` is called, or the signal aborts. */
  keepPurged(options: { readonly everyMs: number; readonly signal?: StopSignal }): Promise<void>;
  /** Writes what is still only in memory (receipts of duplicates). `stop` does it, too. */
  flush(): Promise<void>;
  /**
   * For the end of the process: from now on requests are answered with 503, so that their senders come again; what is under way
   * is finished, `keepPurged` ends, and `flush` is done. Call it before the pool is closed.
   */
  stop(): Promise<void>;
}

const DEFAULT_MAX_BODY_BYTES = 1_048_576;
// A day: the sum of two still fits a timer.
const LONGEST_MS = 86_400_000;
const DEFAULT_PURGE: PurgeLimits = { maxRows: 10_000, deadlineMs: 5000 };

/** What a receiver is made of that stores events for a worker, and runs no handler itself. */
export interface StoreFirstOptions<SourceName extends string> {
  readonly mode: "store_first";
  /** None: give them to `createWorker({ store, handlers })`. */
  readonly handlers?: undefined;
  readonly store: KeeperStore;
  /** By name: a verifier, or a verifier with more to say about its events. */
  readonly sources: Readonly<Record<SourceName, Verifier | SourceOptions>>;
  /** The largest body of any source. @default what the source's provider sends at most, or else 1 MiB */
  readonly maxBodyBytes?: number;
  readonly clock?: Clock;
  readonly observer?: Observer;
}

const COMMON = { store: true, sources: true, maxBodyBytes: true, clock: true, observer: true } as const;
const TIMES = { handlerDeadlineMs: true, acquireMs: true } as const;
/** The names of the options of a receiver, by its mode. */
export const RECEIVER_OPTIONS: KnownOptions<
  OptionNames<ReceiverOptions<never, never>>,
  OptionNames<StoreFirstOptions<never>>
> = {
  inRequest: { ...COMMON, mode: true, handlers: true, order: true, schemas: true, publisher: true, ...TIMES },
  storeFirst: { ...COMMON, mode: true, handlers: true },
};

/**
 * Makes a receiver. With `mode: "store_first"` it stores events and answers; a worker of the same store handles them.
 *
 * @example
 * const receiver = createReceiver({
 *   store: postgresStore({ client: pool }),
 *   sources: { stripe: stripe({ secrets: process.env.STRIPE_SECRET }) },
 *   handlers: {
 *     "invoice.paid": async (event, { tx }) => {
 *       await tx.query("update invoice set paid = true where id = $1", [event.data.data.object.id]);
 *     },
 *   },
 * });
 */
export function createReceiver<SourceName extends string>(
  options: StoreFirstOptions<SourceName>,
): Receiver<SourceName>;
export function createReceiver<
  Tx,
  Mode extends TransactionMode,
  SourceName extends string,
  Keys extends string,
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- inferred from `schemas`, it types the handlers
  S extends Schemas = Schemas,
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- its default says that there is none
  P extends Publisher<Tx> | undefined = undefined,
>(
  options: ReceiverOptions<
    Tx,
    Mode,
    { readonly sources: SourceName; readonly schemas: S; readonly publisher: P },
    Keys
  >,
): Receiver<SourceName>;
export function createReceiver(
  options: StoreFirstOptions<string> | ReceiverOptions<unknown, TransactionMode>,
): Receiver {
  return new InboxReceiver(options);
}

/** What takes verified events to their verdicts. */
interface Judge {
  /** Whether an event that its provider's log names is done. */
  isOver(source: Source, id: string): Promise<boolean>;
  /** What became of each event of a request, in order; the failure of one costs only that one. */
  applyAll(source: Source, events: readonly Event[], shown: Shown): Promise<readonly Verdict[]>;
}

/** A request with the events that it brings. */
interface Read {
  readonly verified: Verified;
  readonly events: readonly Event[];
}

class InboxReceiver<Tx> implements Receiver {
  readonly #maxBodyBytes: number | undefined;
  readonly #sources: ReadonlyMap<string, Source>;
  readonly #store: Pick<InboxStore<Tx>, "flush">;
  readonly #judge: Judge;
  readonly #purging: Pick<InboxStore<Tx>, "purge">;
  readonly #clock: Clock;
  readonly #observer: Observer | undefined;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #stopped = new AbortController();

  constructor(options: StoreFirstOptions<string> | ReceiverOptions<Tx, TransactionMode>) {
    checkReceiver(options, RECEIVER_OPTIONS);
    const { store, clock = systemClock } = options;
    const observer = witnessed(
      store,
      options.observer ?? unobserved({ part: "receiver", handlers: handled(options) }),
    );
    joinParties(this, { kind: "receiver", store, clock });
    positive("maxBodyBytes", options.maxBodyBytes, DEFAULT_MAX_BODY_BYTES);
    this.#maxBodyBytes = options.maxBodyBytes;
    this.#store = store;
    this.#clock = clock;
    this.#observer = observer;
    this.#sources = new Map(
      Object.entries(options.sources).map(([name, given]) => [name, createSource(name, given, observer)]),
    );
    nameSources(this, [...this.#sources.keys()]);
    const keeper =
      "mode" in options && options.mode === "store_first"
        ? new Keeper({ store: options.store, clock, observer, stopped: this.#stopped.signal })
        : undefined;
    this.#judge = keeper ?? this.#applierOf(options as ReceiverOptions<Tx, TransactionMode>);
    this.#purging = keeper ?? store;
  }

  #applierOf(options: ReceiverOptions<Tx, TransactionMode>): Applier<Tx> {
    const names = new Set(this.#sources.keys());
    const byBoth = [...this.#sources.values()].find(({ naming }) => naming.by === "both");
    const holding = [...this.#sources.values()].find(({ hold }) => hold !== undefined);
    if (holding !== undefined) {
      throw new PosthornError<InboxErrorCode>(
        "inbox_option_invalid",
        `order of "${holding.name}" holds events back, which needs mode: "store_first".`,
      );
    }
    // A row of the inbox has one id. Only stored events have several names.
    if (byBoth !== undefined) {
      throw new PosthornError<InboxErrorCode>(
        "inbox_option_invalid",
        `dedup of "${byBoth.name}" is by "both", which needs mode: "store_first"; expected by "id" or "content".`,
      );
    }
    return new Applier({
      store: options.store,
      dropStale: checkDropStale(options.order, options.store),
      handlers: new TypeTable(checkHandlers(options.handlers, names, options.schemas), names),
      schemas: new TypeTable(options.schemas ?? {}, names),
      publisher: options.publisher,
      clock: this.#clock,
      observer: this.#observer,
      handlerDeadlineMs: duration("handlerDeadlineMs", options.handlerDeadlineMs ?? 30_000, LONGEST_MS),
      acquireMs: duration("acquireMs", options.acquireMs ?? 1000, LONGEST_MS),
    });
  }

  receive(name: string, request: SignedRequest): Promise<ReceiverReply> {
    if (this.#stopped.signal.aborted) return Promise.resolve(UNAVAILABLE);
    return this.#watched(this.#receive(name, request));
  }

  async #receive(name: string, request: SignedRequest): Promise<ReceiverReply> {
    const source = this.#sources.get(name);
    if (source === undefined) {
      const why = `no source is called ${shown(name)}; there is ${[...this.#sources.keys()].map(shown).join(", ")}`;
      return this.refuse(name, { status: 404, code: "source_unknown", why });
    }
    const refused = this.#unreadable(name, request);
    if (refused !== undefined) return refused;
    let verified: Verified;
    try {
      verified = await verify(source.verifier, request);
    } catch (error) {
      return refusalOf(isPosthornError(error) ? error.code : "");
    }
    const { scheme } = source.verifier;
    const handshake = await scheme.handshake?.(verified);
    if (handshake !== undefined) return handshake;
    const events = readEvents(verified, name);
    const verdict = await this.#applyAll(source, { verified, events }, { exact: true, key: verified.key });
    const { status, headers = {}, body } = replyTo(verdict, schemeAnswering(verified));
    // Field by field: on Node 20 a spread costs fifty times as much.
    return body === undefined ? { status, headers, verdict } : { status, headers, body, verdict };
  }

  repair(name: string, logged: Logged): Promise<Verdict> {
    if (this.#stopped.signal.aborted) return Promise.resolve("unavailable");
    return this.#watched(this.#repair(name, logged));
  }

  async #repair(name: string, logged: Logged): Promise<Verdict> {
    const source = repairableSource(this.#sources, name);
    if (await this.#judge.isOver(source, logged.id)) return "duplicate";
    const request = await logged.load();
    // Without its observer: a log in other bytes is nothing that anybody has to be told of.
    const quiet = { ...source.verifier, observer: undefined, diagnose: undefined };
    const proved = await verify(quiet, request).catch(() => undefined);
    const verified = proved ?? unproved(source.verifier, request);
    if ((await source.verifier.scheme.handshake?.(verified)) !== undefined) return "skipped";
    const events = readEvents(verified, name);
    checkNamed(source, logged.id, events);
    const proof = { exact: proved !== undefined, key: proved?.key, sentAt: logged.sentAt };
    return this.#applyAll(source, { verified, events }, proof);
  }

  repairable(name: string): Repairable {
    const { tenant, windowS } = repairableSource(this.#sources, name);
    return { tenant, windowS };
  }

  maxBodyBytes(source: string): number {
    return (
      this.#maxBodyBytes ?? this.#sources.get(source)?.verifier.scheme.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES
    );
  }

  refuse(source: string, { status, code, why }: RequestRefusal): Reply {
    notify(this.#observer, { kind: "request_refused", source, status, code, why });
    return { status };
  }

  purge(limits: Partial<PurgeLimits> = {}): Promise<PurgeReport> {
    return this.#purging.purge({ ...DEFAULT_PURGE, ...limits });
  }

  async keepPurged({
    everyMs,
    signal,
  }: {
    readonly everyMs: number;
    readonly signal?: StopSignal;
  }): Promise<void> {
    duration("everyMs of keepPurged", everyMs, LONGEST_TIMER_MS);
    const ends = new AbortController();
    for (const each of [signal, this.#stopped.signal]) {
      if (each?.aborted === true) ends.abort();
      each?.addEventListener("abort", () => ends.abort());
    }
    const purging = repeat({
      everyMs,
      clock: this.#clock,
      signal: ends.signal,
      work: async () => (await this.purge()).more,
      failed: (error) => this.#purgeFailed(error),
    });
    await this.#watched(purging);
  }

  async flush(): Promise<void> {
    await this.#store.flush();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.allSettled(this.#underWay);
    await this.flush();
  }

  #watched<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const over = (): boolean => this.#underWay.delete(work);
    work.then(over, over);
    return work;
  }

  async #applyAll(source: Source, { verified, events }: Read, proof: Proof): Promise<Verdict> {
    const { headers } = verified.request;
    const kept = keptHeadersText(headers);
    return worstOf(await this.#judge.applyAll(source, events, { headers, kept, proof }));
  }

  #unreadable(name: string, request: SignedRequest): Reply | undefined {
    const most = this.maxBodyBytes(name);
    if (request.body instanceof Uint8Array && request.body.length > most) {
      const why = `the body has ${request.body.length} bytes; at most ${most} are taken`;
      return this.refuse(name, { status: 413, code: "body_too_large", why });
    }
    if (!isEncoded(request.headers)) return undefined;
    const why = "the body is compressed; signatures cover the bytes as they were before";
    return this.refuse(name, { status: 415, code: "body_compressed", why });
  }

  /** A purge that fails loses nothing; the next round tries again. */
  #purgeFailed(error: unknown): void {
    notify(this.#observer, storeFailed("purge", error));
  }
}

function handled(options: object): readonly string[] {
  return Object.keys((options as { readonly handlers?: object }).handlers ?? {});
}
