import { createHash } from "node:crypto";
import type { Publication } from "posthorn";
import type { EventInput } from "posthorn/client";
import { problem } from "./problem.js";

/** The idempotency key of a publication, and the token that sent it. */
export interface IdempotencyKey {
  readonly tokenId: string;
  readonly key: string;
}

/** Turns the JSON of an event into a publication; the library checks the fields. */
export function publicationOf(input: EventInput, index: number, idempotency?: IdempotencyKey): Publication {
  const {
    data,
    body,
    time,
    deliverAt,
    expiresAt,
    id = idempotency && keyedId(idempotency, index),
    ...rest
  } = input;
  return {
    ...rest,
    ...(id !== undefined && { id }),
    ...(data !== undefined && { data }),
    ...(body !== undefined && { body: bytesOf(body, index) }),
    ...(time !== undefined && { time: new Date(time) }),
    ...(deliverAt !== undefined && { deliverAt: new Date(deliverAt) }),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt) }),
  };
}

/** Reads the header. Equal keys of two tokens are two keys. */
export function idempotencyOf(header: unknown, tokenId: string): IdempotencyKey | undefined {
  if (header === undefined) return undefined;
  if (typeof header === "string" && /^[\x21-\x7e][\x20-\x7e]{0,254}$/.test(header))
    return { tokenId, key: header };
  throw problem("request_invalid", "The header idempotency-key must be 1 to 255 visible ASCII characters.", {
    field: "idempotency-key",
  });
}

function keyedId({ tokenId, key }: IdempotencyKey, index: number): string {
  const hash = createHash("sha256").update(`${tokenId}\n${index}\n${key}`).digest("base64url");
  return `idk_${hash}`;
}

function bytesOf(text: string, index: number): Uint8Array {
  const bytes = Buffer.from(text, "base64");
  const padded = bytes.toString("base64");
  // Buffer skips characters that are not base64, and would send other bytes.
  if (text === padded || text === padded.replace(/=+$/, "")) return bytes;
  throw problem("request_invalid", "`body` is not base64.", {
    field: index === 0 ? "body" : `${index}.body`,
  });
}
