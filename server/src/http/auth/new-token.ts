import { createHash, randomBytes } from "node:crypto";
import { newId } from "posthorn/gateway";
import type { TokenRecord } from "../../store/token.js";

/** A new token. `token` is shown to its owner once, and stored nowhere. */
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

/** What the registry stores of a token. A token has 256 random bits, so that neither salt nor a slow hash is needed. */
export function tokenHash(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}
