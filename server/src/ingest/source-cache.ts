import type { Clock } from "posthorn";
import type { Logger } from "../observe/log.js";
import type { SourceRecord, SourceRegistry } from "../store/source.js";
import { liveSource } from "./live-source.js";
import type { LiveSource } from "./live-source.js";

/** A source that is there and cannot be used: its events have to come again. */
export interface BrokenSource {
  readonly record: SourceRecord;
  readonly broken: string;
}

export type CachedSource = LiveSource | BrokenSource;

export interface SourceCacheParts {
  readonly registry: Pick<SourceRegistry, "listSources" | "sourcesVersion" | "onSourcesChanged">;
  readonly clock: Clock;
  readonly log: Logger;
}

const PAGE = 500;
// Whoever calls for sources that do not exist must not make each call a question to the database.
const UNKNOWN_EVERY_MS = 250;

/** The sources of this node, as the registry had them when it last looked. */
export class SourceCache {
  readonly #parts: SourceCacheParts;
  #sources: ReadonlyMap<string, CachedSource> = new Map();
  #version: string | undefined;
  // How many changes this node has made, and how many of them are in what it read.
  #changes = 0;
  #seen = 0;
  #refreshing: Promise<void> | undefined;
  #lookedAt = -Infinity;
  readonly #stopListening: (() => void) | undefined;

  constructor(parts: SourceCacheParts) {
    this.#parts = parts;
    this.#stopListening = parts.registry.onSourcesChanged?.(() => {
      this.#changes++;
    });
  }

  /** The source as it is known; undefined where it has to be looked for with `find`. */
  get(name: string): CachedSource | undefined {
    return this.#changes === this.#seen ? this.#sources.get(name) : undefined;
  }

  /** Looks into the registry first, where something has changed on this node or the name is not known. */
  async find(name: string): Promise<CachedSource | undefined> {
    if (this.#changes !== this.#seen) {
      await this.refresh();
    } else if (
      !this.#sources.has(name) &&
      this.#parts.clock.monotonic() - this.#lookedAt >= UNKNOWN_EVERY_MS
    ) {
      // Made a moment ago on another node: its provider must not be told that there is nothing.
      await this.refresh();
    }
    return this.#sources.get(name);
  }

  /** Reads the sources again if any has changed. Of many who ask at once, one asks the database. */
  async refresh(): Promise<void> {
    // What is under way may have looked before the change that this caller knows of.
    if (this.#refreshing !== undefined) await this.#refreshing.catch(() => undefined);
    this.#refreshing ??= this.#read().finally(() => {
      this.#refreshing = undefined;
    });
    await this.#refreshing;
  }

  close(): void {
    this.#stopListening?.();
  }

  async #read(): Promise<void> {
    const { registry, clock } = this.#parts;
    const changes = this.#changes;
    // The number first: a change that comes after it is seen by the next look at the latest.
    const version = await registry.sourcesVersion();
    this.#lookedAt = clock.monotonic();
    if (version !== this.#version) {
      this.#sources = await this.#readAll();
      this.#version = version;
    }
    // Not before it is read: who comes meanwhile must not be let in by a secret that was taken back.
    this.#seen = changes;
  }

  async #readAll(): Promise<ReadonlyMap<string, CachedSource>> {
    const sources = new Map<string, CachedSource>();
    let after: string | undefined;
    do {
      const page = await this.#parts.registry.listSources({ after, limit: PAGE });
      for (const record of page) sources.set(record.name, this.#cached(record));
      after = page.length < PAGE ? undefined : page.at(-1)?.name;
    } while (after !== undefined);
    return sources;
  }

  #cached(record: SourceRecord): CachedSource {
    const known = this.#sources.get(record.name);
    // One of the same name that was removed and made again begins at version 1 once more.
    if (
      known?.record.version === record.version &&
      known.record.createdAt.getTime() === record.createdAt.getTime()
    ) {
      return known;
    }
    if (record.unopened !== undefined)
      return this.#broken(record, `its secrets cannot be opened: ${record.unopened}`);
    try {
      return liveSource(record, this.#parts.clock);
    } catch (error) {
      return this.#broken(record, error instanceof Error ? error.message : String(error));
    }
  }

  #broken(record: SourceRecord, broken: string): BrokenSource {
    this.#parts.log.error(
      { source: record.name, because: broken },
      "source cannot be used; its requests are answered 503",
    );
    return { record, broken };
  }
}
