import type { CreatedToken, Token, TokenInput } from "posthorn/client";
import type { TokenRecord } from "../../store/token.js";
import type { FieldsOf } from "./text.js";
import { INSTANT, instant, MAYBE_INSTANT, whole } from "./text.js";

const SCOPE = { type: "string", enum: ["read", "full", "metrics"] } as const;

export const TOKEN_NAME = "^[^\\u0000-\\u001f\\u007f-\\u009f]{1,100}$";

export const TOKEN_INPUT: object = {
  $id: "TokenInput",
  type: "object",
  required: ["name", "scope"],
  additionalProperties: false,
  properties: {
    name: {
      type: "string",
      pattern: TOKEN_NAME,
      description: "1 to 100 characters.",
    },
    scope: SCOPE,
    expiresAt: { ...INSTANT, description: "Never where it is left out." },
  } satisfies FieldsOf<TokenInput>,
};

const FIELDS = {
  id: { type: "string" },
  name: { type: "string" },
  scope: SCOPE,
  fingerprint: {
    type: "string",
    description: "The first 12 digits of the SHA-256 of the token, in hexadecimal.",
  },
  createdAt: INSTANT,
  expiresAt: MAYBE_INSTANT,
  lastUsedAt: { ...MAYBE_INSTANT, description: "To the minute." },
} as const;

export const TOKEN: object = { $id: "Token", ...whole<Token>(FIELDS) };

export const CREATED_TOKEN: object = {
  $id: "CreatedToken",
  ...whole<CreatedToken>({ ...FIELDS, token: { type: "string", description: "Shown this once." } }),
};

export function showToken(token: TokenRecord): Token {
  return {
    id: token.id,
    name: token.name,
    scope: token.scope,
    fingerprint: Buffer.from(token.hash).toString("hex").slice(0, 12),
    createdAt: token.createdAt.toISOString(),
    expiresAt: instant(token.expiresAt),
    lastUsedAt: instant(token.lastUsedAt),
  };
}
