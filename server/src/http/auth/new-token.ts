import { createHash, randomBytes } from "node:crypto";
import { newId } from "posthorn/gateway";
import type { TokenRecord } from "../../store/token.js";

/** A token that was just made. `token` is told to its owner once, and kept nowhere. */
export interface NewToken {
  readonly token: string;
  readonly record: TokenRecord;
}

const TOKEN_BYTES = 32;

export function newToken(
  { name, scope, expiresAt }: Pick<TokenRecord, "name" | "scope" | "expiresAt">,
  createdAt: Date,
): NewToken {
  const token = `phk_${randomBytes(TOKEN_BYTES).toString("base64url")}`;
  const id = newId("tok", createdAt.getTime());
  return {
    token,
    record: { id, name, scope, hash: tokenHash(token), createdAt, expiresAt, lastUsedAt: undefined },
  };
}

/** What is kept of a token, and by which it is found. It has 256 random bits: no salt and no slow hash is needed. */
export function tokenHash(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}
