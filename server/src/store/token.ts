/** Access to the API. The token itself is not kept: its hash is. */
export interface TokenRecord {
  /** `tok_…` */
  readonly id: string;
  readonly name: string;
  readonly scope: "read" | "full";
  /** SHA-256 of the whole token. */
  readonly hash: Uint8Array;
  readonly createdAt: Date;
  readonly expiresAt: Date | undefined;
  /** To the minute. */
  readonly lastUsedAt: Date | undefined;
}

export interface TokenRegistry {
  addToken(token: TokenRecord): Promise<void>;
  /** Adds it only where there is no token yet; false where there is. Of two nodes that start at once, one adds. */
  addFirstToken(token: TokenRecord): Promise<boolean>;
  findToken(hash: Uint8Array): Promise<TokenRecord | undefined>;
  /** False where there is none. */
  removeToken(id: string): Promise<boolean>;
  /** In the order of their ids, after the one that is named. */
  listTokens(page: {
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly TokenRecord[]>;
  touchToken(id: string, at: Date): Promise<void>;
}
