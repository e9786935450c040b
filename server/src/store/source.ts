import type { DedupRule, Place } from "posthorn/client";

/** A source of inbound events, checked and complete. */
export interface SourceRecord {
  readonly name: string;
  readonly tenant: string;
  /** A provider's scheme, `hmac` or `none`. */
  readonly scheme: string;
  /** In clear text here; sealed in the database. */
  readonly secrets: readonly string[];
  /** Why its secrets could not be opened. `secrets` is empty then, and its requests are answered 503. */
  readonly unopened?: string | undefined;
  readonly options: Readonly<Record<string, unknown>>;
  readonly dedup: DedupRule;
  readonly windowS: number;
  readonly key: Place | undefined;
  readonly forwardHeaders: readonly string[];
  readonly createdAt: Date;
  /** Grows with each change, so that nodes see which sources to prepare again. */
  readonly version: number;
}

export type SourceChange = Partial<Omit<SourceRecord, "name" | "createdAt" | "version" | "unopened">>;

/** Says what to change of a source, having seen it. */
export type DecideSourceChange = (before: SourceRecord) => SourceChange;

export interface SourceRegistry {
  /** False where the name is taken. */
  addSource(source: SourceRecord): Promise<boolean>;
  /**
   * Writes what `decide` says, unless another change came between: then `decide` sees the new record. A change decided on
   * an older record would undo the other one, and bring back a secret that was taken away.
   */
  changeSource(name: string, decide: DecideSourceChange): Promise<SourceRecord | undefined>;
  /** False where there is none. */
  removeSource(name: string): Promise<boolean>;
  readSource(name: string): Promise<SourceRecord | undefined>;
  /** Ordered by name, after the given one. */
  listSources(page: {
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly SourceRecord[]>;
  /** Changes whenever any node adds, changes or removes a source. */
  sourcesVersion(): Promise<string>;
  /**
   * Calls the listener after each change made on this node, which then need not wait for its next poll; returns a function
   * that stops it. Left out by a registry that cannot do it.
   */
  onSourcesChanged?(listener: () => void): () => void;
}

/** Listeners for changes made on this node. */
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
