/** A request that was not taken in, kept apart for people. */
export interface RejectedRecord {
  /** `rej_…` */
  readonly id: string;
  readonly source: string;
  readonly receivedAt: Date;
  readonly method: string;
  /** Without credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** The first bytes. */
  readonly body: Uint8Array;
  /** Of the whole body. */
  readonly bodyBytes: number;
  readonly code: string;
  readonly message: string;
  readonly diagnosis: readonly string[];
}

export interface RejectedRegistry {
  /** Keeps these, and drops the oldest of each source beyond `keepPerSource`. */
  recordRejected(requests: readonly RejectedRecord[], keepPerSource: number): Promise<void>;
  /** Newest first, from before the one that is named; without their bodies (`body` is empty). */
  listRejected(page: {
    readonly source?: string | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly RejectedRecord[]>;
  readRejected(id: string): Promise<RejectedRecord | undefined>;
}
