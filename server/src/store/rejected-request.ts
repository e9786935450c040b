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
  /** What else a signature may cover, so that it can be taken in again; undefined where it was not kept whole. */
  readonly whole: WholeRequest | undefined;
}

/** What of a request is only kept sealed: it may hold credentials. */
export interface WholeRequest {
  /** Path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[] | undefined;
}

export interface RejectedRegistry {
  /** Stores these, and deletes the oldest of each source beyond `keepPerSource`. */
  recordRejected(requests: readonly RejectedRecord[], keepPerSource: number): Promise<void>;
  /** Newest first, older than the given one; without bodies and what is sealed (`body` is empty, `whole` undefined). */
  listRejected(page: {
    readonly source?: string | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly RejectedRecord[]>;
  /** Removes up to `limit` that were received before, oldest first, and says how many. */
  removeRejected(before: Date, limit: number): Promise<number>;
  readRejected(id: string): Promise<RejectedRecord | undefined>;
  /** Removes one that was taken in after all. */
  dropRejected(id: string): Promise<void>;
}
