/** How wide the rows of a series are, in seconds: minutes for two days, hours for a quarter of a year. */
export type SeriesStep = 60 | 3600;

export type SeriesKind = "total" | "source" | "endpoint";

/** What one node has counted of one subject in one step, all of it: writing it twice changes nothing. */
export interface SeriesRow {
  readonly step: SeriesStep;
  readonly kind: SeriesKind;
  /** The start of the step. */
  readonly at: Date;
  /** Of the source, or the endpoint's id; empty for the total. */
  readonly name: string;
  readonly counts: Readonly<Record<string, number>>;
  /** Histograms as text; empty where nothing was timed. */
  readonly duration: string;
  readonly lag: string;
}

export interface SeriesSpan {
  readonly step: SeriesStep;
  readonly kind: SeriesKind;
  readonly since: Date;
  /** Not included. */
  readonly until: Date;
  /** Of this subject alone. */
  readonly name?: string | undefined;
}

/** A node that runs, or ran a moment ago. */
export interface NodeRecord {
  readonly name: string;
  readonly roles: readonly string[];
  readonly version: string;
  readonly startedAt: Date;
}

export interface SeenNode extends NodeRecord {
  /** By the database's clock. */
  readonly seenAt: Date;
  readonly seenMs: number;
}

export interface SeriesRegistry {
  /** Replaces what this node has written of the same steps before. */
  recordSeries(node: string, rows: readonly SeriesRow[]): Promise<void>;
  /** The rows of all nodes, oldest first. */
  readSeries(span: SeriesSpan): Promise<readonly SeriesRow[]>;
  /** When a source or an endpoint last had something counted, by name; only steps since then are looked at. */
  lastSeen(kind: SeriesKind, since: Date): Promise<ReadonlyMap<string, Date>>;
  /** Forgets steps older than this, some at a time; says how many. */
  forgetSeries(step: SeriesStep, before: Date, limit: number): Promise<number>;
  /** Says that a node runs, and forgets those that have not said so for a day. */
  recordNode(node: NodeRecord): Promise<void>;
  /** Says that a node has stopped. */
  forgetNode(name: string): Promise<void>;
  /** Those that have said so within this time, by name. */
  listNodes(withinMs: number): Promise<readonly SeenNode[]>;
}
