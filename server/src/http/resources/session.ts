import type { Session, SessionInput } from "posthorn/client";
import type { OpenSession } from "../../store/session.js";
import type { FieldsOf } from "./text.js";
import { MAYBE_INSTANT, MAYBE_TEXT, whole } from "./text.js";

export const SESSION_INPUT: object = {
  $id: "SessionInput",
  type: "object",
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
  properties: {
    token: { type: "string", minLength: 1, maxLength: 255, description: "`phk_…`" },
    code: { type: "string", minLength: 1, maxLength: 255, description: "Of the link that a start prints." },
  } satisfies FieldsOf<SessionInput>,
};

export const SESSION: object = {
  $id: "Session",
  ...whole<Session>({
    signedIn: { type: "boolean" },
    tokenId: { ...MAYBE_TEXT, description: "The token whose rights it has." },
    name: { ...MAYBE_TEXT, description: "Of that token." },
    scope: { type: ["string", "null"], enum: ["read", "full", null] },
    expiresAt: MAYBE_INSTANT,
  }),
};

export function showSession(open: OpenSession | undefined): Session {
  if (open === undefined) {
    return { signedIn: false, tokenId: null, name: null, scope: null, expiresAt: null };
  }
  const { session, token } = open;
  const endsMs = Math.min(session.expiresAt.getTime(), token.expiresAt?.getTime() ?? Infinity);
  return {
    signedIn: true,
    tokenId: token.id,
    name: token.name,
    scope: token.scope,
    expiresAt: new Date(endsMs).toISOString(),
  };
}
