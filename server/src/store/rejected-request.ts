/** A request that ingest rejected, kept for an operator. */
export interface RejectedRecord {
  /** `rej_…` */
  readonly id: string;
  readonly source: string;
  readonly receivedAt: Date;
  readonly method: string;
  /** Without credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** The first bytes of the body. */
  readonly body: Uint8Array;
  /** The size of the whole body. */
  readonly bodyBytes: number;
  readonly code: string;
  readonly message: string;
  readonly diagnosis: readonly string[];
}

export interface RejectedRegistry {
  /** Stores these, and deletes the oldest of each source beyond `keepPerSource`. */
  recordRejected(requests: readonly RejectedRecord[], keepPerSource: number): Promise<void>;
  /** Newest first, older than the given one; without bodies (`body` is empty). */
  listRejected(page: {
    readonly source?: string | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly RejectedRecord[]>;
  /** Removes up to `limit` that were received before, oldest first, and says how many. */
  removeRejected(before: Date, limit: number): Promise<number>;
  readRejected(id: string): Promise<RejectedRecord | undefined>;
}
