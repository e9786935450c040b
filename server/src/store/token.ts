/** A token of the API. Only its hash is stored. */
export interface TokenRecord {
  /** `tok_…` */
  readonly id: string;
  readonly name: string;
  /** `metrics`: `/metrics` alone. */
  readonly scope: "read" | "full" | "metrics";
  /** SHA-256 of the whole token. */
  readonly hash: Uint8Array;
  readonly createdAt: Date;
  readonly expiresAt: Date | undefined;
  /** Accurate to the minute. */
  readonly lastUsedAt: Date | undefined;
}

export type RemovedToken = "removed" | "unknown" | "last_full";

export interface TokenRegistry {
  addToken(token: TokenRecord): Promise<void>;
  /** Adds it where there is no token yet; false where there is one. Of two nodes that start at once, one adds it. */
  addFirstToken(token: TokenRecord): Promise<boolean>;
  findToken(hash: Uint8Array): Promise<TokenRecord | undefined>;
  /**
   * Removes a token, unless it is the last with the scope full that works at that time: without it, nobody could make
   * another one. Of two callers that remove the last two, one is refused.
   */
  removeToken(id: string, at: Date): Promise<RemovedToken>;
  /** Ordered by id, after the given one. */
  listTokens(page: {
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly TokenRecord[]>;
  touchToken(id: string, at: Date): Promise<void>;
}
