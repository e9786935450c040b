import type { Clock } from "posthorn";
import { repeat } from "posthorn/gateway";
import type { NodeRecord, SeriesRegistry } from "../store/series.js";
import type { Logger } from "./log.js";
import type { SeriesCounters } from "./series-counters.js";

export interface SeriesWriterParts {
  readonly registry: Pick<SeriesRegistry, "recordSeries" | "recordNode" | "forgetNode" | "forgetSeries">;
  readonly counters: SeriesCounters;
  readonly clock: Clock;
  readonly log: Logger;
  readonly node: NodeRecord;
}

/** A killed node loses what it has counted since its last write: at most this long. */
export const FLUSH_EVERY_MS = 2000;
/** How often a node says that it runs. */
export const SEEN_EVERY_MS = 10_000;
const FORGET_EVERY_MS = 60_000;
const FORGET_AT_ONCE = 2000;
/** How long minutes and hours are kept. */
export const KEPT_MS: Readonly<Record<60 | 3600, number>> = { 60: 48 * 3_600_000, 3600: 90 * 86_400_000 };

/** Writes what this node has counted every two seconds, says that the node runs, and forgets old steps. */
export class SeriesWriter {
  readonly #parts: SeriesWriterParts;
  readonly #ended = new AbortController();
  #loops: readonly Promise<void>[] = [];

  constructor(parts: SeriesWriterParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    const { clock, log, registry, node } = this.#parts;
    const { signal } = this.#ended;
    const failed = (what: string) => (error: unknown) => log.warn({ err: error }, what);
    // At once: a page that is opened right after the start shows this node.
    await registry.recordNode(node).catch(failed("the node could not be recorded"));
    this.#loops = [
      repeat({
        everyMs: FLUSH_EVERY_MS,
        clock,
        signal,
        work: () => this.flush(),
        failed: failed("counters could not be written; they are written with the next ones"),
      }),
      repeat({
        everyMs: SEEN_EVERY_MS,
        clock,
        signal,
        work: () => registry.recordNode(node),
        failed: failed("the node could not be recorded"),
      }),
      repeat({
        everyMs: FORGET_EVERY_MS,
        clock,
        signal,
        work: () => this.#forget(),
        failed: failed("old counters could not be forgotten"),
      }),
    ];
  }

  /** Ends the loops, writes the last counters, and says that the node runs no more: it would else be listed for a minute. */
  async stop(): Promise<void> {
    const { registry, node, log } = this.#parts;
    this.#ended.abort();
    await Promise.all(this.#loops);
    await this.flush().catch((error: unknown) =>
      log.warn({ err: error }, "the last counters could not be written"),
    );
    await registry
      .forgetNode(node.name)
      .catch((error: unknown) => log.warn({ err: error }, "the node could not be taken off the list"));
  }

  async flush(): Promise<void> {
    const { registry, counters, node } = this.#parts;
    const batch = counters.batch();
    if (batch.rows.length === 0) return;
    await registry.recordSeries(node.name, batch.rows);
    batch.written();
  }

  /** True where there is more to forget. */
  async #forget(): Promise<boolean> {
    const { registry, clock } = this.#parts;
    const gone = await Promise.all(
      ([60, 3600] as const).map((step) =>
        registry.forgetSeries(step, new Date(clock.now() - KEPT_MS[step]), FORGET_AT_ONCE),
      ),
    );
    return gone.some((count) => count >= FORGET_AT_ONCE);
  }
}
