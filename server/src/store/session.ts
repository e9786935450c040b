import type { TokenRecord } from "./token.js";

/** A browser that signed in. What its cookie holds is not kept: its hash is. */
export interface SessionRecord {
  /** SHA-256 of what the cookie holds. */
  readonly hash: Uint8Array;
  /** Whose rights it has. */
  readonly tokenId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** A session with the token that it stands for. */
export interface OpenSession {
  readonly session: SessionRecord;
  readonly token: TokenRecord;
}

export interface SessionRegistry {
  /** Adds it, and drops those that have ended: nobody else would. */
  addSession(session: SessionRecord): Promise<void>;
  /** Undefined where there is none, or its token was revoked. */
  findSession(hash: Uint8Array): Promise<OpenSession | undefined>;
  /** False where there is none. */
  removeSession(hash: Uint8Array): Promise<boolean>;
}
