import type { DedupRule, Place } from "posthorn/client";

/** Where inbound events come from, as the registry keeps it. Checked and complete. */
export interface SourceRecord {
  readonly name: string;
  readonly tenant: string;
  /** A provider's scheme, `hmac` or `none`. */
  readonly scheme: string;
  /** Open here; sealed in the database. */
  readonly secrets: readonly string[];
  /** Why its secrets could not be opened; there are none here then, and nothing is taken from it. */
  readonly unopened?: string | undefined;
  readonly options: Readonly<Record<string, unknown>>;
  readonly dedup: DedupRule;
  readonly windowS: number;
  readonly key: Place | undefined;
  readonly forwardHeaders: readonly string[];
  readonly createdAt: Date;
  /** Grows with each change: a node that has an older one reads it again. */
  readonly version: number;
}

export type SourceChange = Partial<Omit<SourceRecord, "name" | "createdAt" | "version" | "unopened">>;

export interface SourceRegistry {
  /** False where the name is taken. */
  addSource(source: SourceRecord): Promise<boolean>;
  changeSource(name: string, change: SourceChange): Promise<SourceRecord | undefined>;
  /** False where there is none. */
  removeSource(name: string): Promise<boolean>;
  readSource(name: string): Promise<SourceRecord | undefined>;
  /** In the order of their names, after the one that is named. */
  listSources(page: {
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly SourceRecord[]>;
  /** Changes whenever a source is added, changed or removed, on any node. */
  sourcesVersion(): Promise<string>;
  /**
   * Tells of each change that was made here, so that this node need not wait until it looks again; returns how to stop.
   * A registry that cannot tell leaves it out.
   */
  onSourcesChanged?(listener: () => void): () => void;
}

/** Those who want to know of a change that was made on this node. */
export class Listeners {
  readonly #listeners = new Set<() => void>();

  add(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
