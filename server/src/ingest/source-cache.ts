import type { Clock } from "posthorn";
import type { Settings } from "../config/settings.js";
import type { Logger } from "../observe/log.js";
import type { SourceRecord, SourceRegistry } from "../store/source.js";
import { liveSource } from "./live-source.js";
import type { LiveSource } from "./live-source.js";

/** A source that exists and cannot be used: its requests are answered 503, so that the provider retries. */
export interface BrokenSource {
  readonly record: SourceRecord;
  readonly broken: string;
}

export type CachedSource = LiveSource | BrokenSource;

export interface SourceCacheParts {
  readonly registry: Pick<SourceRegistry, "listSources" | "sourcesVersion" | "onSourcesChanged">;
  readonly clock: Clock;
  readonly settings: Pick<Settings, "publicUrl">;
  readonly log: Logger;
}

const PAGE = 500;
// Requests for sources that do not exist must not cause a query each.
const UNKNOWN_EVERY_MS = 250;

/** The sources that this node last read from the registry. */
export class SourceCache {
  readonly #parts: SourceCacheParts;
  #sources: ReadonlyMap<string, CachedSource> = new Map();
  #version: string | undefined;
  // Changes made on this node, and how many of them the cache includes.
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

  /** The cached source; undefined where `find` has to look for it. */
  get(name: string): CachedSource | undefined {
    return this.#changes === this.#seen ? this.#sources.get(name) : undefined;
  }

  /** What was last read of the source, even where it may have changed since. */
  peek(name: string): CachedSource | undefined {
    return this.#sources.get(name);
  }

  /** Reads the registry first, when a source changed on this node or the name is unknown. */
  async find(name: string): Promise<CachedSource | undefined> {
    if (this.#changes !== this.#seen) {
      await this.refresh();
    } else if (
      !this.#sources.has(name) &&
      this.#parts.clock.monotonic() - this.#lookedAt >= UNKNOWN_EVERY_MS
    ) {
      // Another node may have just created it: its provider must not get a 404.
      await this.refresh();
    }
    return this.#sources.get(name);
  }

  /** Reads the sources again if any has changed. Concurrent calls share one query. */
  async refresh(): Promise<void> {
    // A read in progress may have started before the change that this caller knows of.
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
    // The version first: a change after it is seen by the next read at the latest.
    const version = await registry.sourcesVersion();
    this.#lookedAt = clock.monotonic();
    if (version !== this.#version) {
      this.#sources = await this.#readAll();
      this.#version = version;
    }
    // Only now: until the read ends, a request must not be accepted with a secret that was removed.
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
    // A source that was removed and created again starts at version 1, too.
    if (
      known?.record.version === record.version &&
      known.record.createdAt.getTime() === record.createdAt.getTime()
    ) {
      return known;
    }
    if (record.unopened !== undefined)
      return this.#broken(record, `its secrets cannot be opened: ${record.unopened}`);
    try {
      return liveSource(record, this.#parts.clock, this.#parts.settings.publicUrl);
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
