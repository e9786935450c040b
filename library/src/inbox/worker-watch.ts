import type { Clock } from "../clock.js";
import type { RegisteredHandler } from "../lanes/handler-consumer.js";
import { notify } from "../observer.js";
import type { Observer, Signal } from "../observer.js";
import { matcherOf } from "../pattern.js";
import type { StopSignal } from "../stop-signal.js";
import { WORKER_GONE_MS } from "../worker-gone.js";

/** Where handlers are registered, and when a worker that has each was last there. */
export interface HandlerBook {
  consumers(): Promise<
    readonly (Pick<RegisteredHandler, "id" | "sources"> & { readonly seenAt: Date | undefined })[]
  >;
}

type StoredEvent = Omit<Extract<Signal, { readonly kind: "worker_missing" }>, "kind" | "consumers">;

export interface WatchParts {
  readonly book: HandlerBook;
  readonly clock: Clock;
  readonly observer: Observer | undefined;
  /** Aborts when the receiver stops. */
  readonly stopped: StopSignal;
}

// In a process that starts its worker after its server, and in a test that drains one, it is there by then.
const PATIENCE_MS = 2000;

// In between, a process that stores events asks for nothing.
const LOOK_AGAIN_MS = WORKER_GONE_MS;
// A worker that is drained every hour, and has no other, is away in between.
const TELL_AGAIN_MS = 3_600_000;

/** Tells of a source whose events are stored while nobody handles them: without `worker.start()` they would wait in silence. */
export class WorkerWatch {
  readonly #parts: WatchParts;
  // Of each source, by the monotonic clock.
  readonly #looksAt = new Map<string, number>();

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  /** Begins to look at an event of a source, now and then, and holds nobody up. */
  stored(event: StoredEvent): void {
    const now = this.#parts.clock.monotonic();
    if (now < (this.#looksAt.get(event.source) ?? now)) return;
    this.#looksAt.set(event.source, now + LOOK_AGAIN_MS);
    // A store that cannot be read has said so elsewhere; the event is stored either way.
    void this.#look(event).catch(() => undefined);
  }

  async #look(event: StoredEvent): Promise<void> {
    const { clock, observer, stopped } = this.#parts;
    if ((await this.#unhandled(event.source)) === undefined) return;
    await clock.sleep(PATIENCE_MS, stopped);
    if (stopped.aborted) return;
    const consumers = await this.#unhandled(event.source);
    if (consumers === undefined) return;
    this.#looksAt.set(event.source, clock.monotonic() + TELL_AGAIN_MS);
    notify(observer, { kind: "worker_missing", ...event, consumers });
  }

  /** The consumers of a source that no worker has; undefined where each has one, and there is one. */
  async #unhandled(source: string): Promise<readonly string[] | undefined> {
    const all = await this.#parts.book.consumers();
    const concerned = all.filter(({ sources }) => matcherOf(sources)(source));
    const now = this.#parts.clock.now();
    const gone = concerned.filter(({ seenAt }) => now - (seenAt?.getTime() ?? 0) >= WORKER_GONE_MS);
    return concerned.length > 0 && gone.length === 0 ? undefined : gone.map(({ id }) => id);
  }
}
