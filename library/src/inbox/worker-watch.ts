import type { Clock } from "../clock.js";
import type { RegisteredHandler } from "../lanes/handler-consumer.js";
import { notify } from "../observer.js";
import type { Observer, Signal } from "../observer.js";
import { matcherOf } from "../pattern.js";
import type { StopSignal } from "../stop-signal.js";

/** Where handlers are registered. */
export interface HandlerBook {
  readHandlers(): Promise<readonly Pick<RegisteredHandler, "sources">[]>;
}

type StoredEvent = Omit<Extract<Signal, { readonly kind: "worker_missing" }>, "kind">;

export interface WatchParts {
  readonly book: HandlerBook;
  readonly clock: Clock;
  readonly observer: Observer | undefined;
  /** Aborts when the receiver stops. */
  readonly stopped: StopSignal;
}

// In a process that starts its worker after its server, and in a test that drains one, it is there by then.
const PATIENCE_MS = 2000;

/** Tells of each source whose events are stored while no worker has registered for it: without `worker.start()` they would wait in silence. */
export class WorkerWatch {
  readonly #parts: WatchParts;
  readonly #asked = new Set<string>();

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  /** Begins to look at the first event of a source, and holds nobody up. */
  stored(event: StoredEvent): void {
    if (this.#asked.has(event.source)) return;
    this.#asked.add(event.source);
    // A store that cannot be read has said so elsewhere; the event is stored either way.
    void this.#look(event).catch(() => undefined);
  }

  async #look(event: StoredEvent): Promise<void> {
    const { clock, observer, stopped } = this.#parts;
    if (await this.#hasWorker(event.source)) return;
    await clock.sleep(PATIENCE_MS, stopped);
    if (stopped.aborted || (await this.#hasWorker(event.source))) return;
    notify(observer, { kind: "worker_missing", ...event });
  }

  async #hasWorker(source: string): Promise<boolean> {
    return (await this.#parts.book.readHandlers()).some(({ sources }) => matcherOf(sources)(source));
  }
}
