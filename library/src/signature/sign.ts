import { produce, produceSync } from "#crypto";
import { encodeBase64 } from "../bytes.js";
import type { Stamp } from "../event.js";
import { PosthornError } from "../posthorn-error.js";
import type { Key } from "./keys/key.js";
import type { Content } from "./crypto/question.js";
import type { WallClock } from "./scheme.js";
import { malformedSecret, parseStandardSecret } from "./keys/secret.js";
import type { SignatureErrorCode } from "./signature-errors.js";
import { isEventId } from "./headers/standard-headers.js";
import { STAMP_HEADERS, STAMP_VERSIONS, stampContent, writeStamp } from "./stamp.js";
import { parseSecrets, WALL_CLOCK } from "./verifier.js";
import type { VerifierOptions } from "./verifier.js";

// Verifiers read at most this many digits, and at most 16 entries: two for each key of a stamped event.
const MAX_SECONDS = 99_999_999_999;
const MAX_KEYS = 8;

/** The keys of a sender, parsed once. During a rotation it holds the old and the new, and both sign. */
export interface Signer {
  readonly keys: readonly Key[];
  readonly clock: WallClock;
}

/** What is to be signed. */
export interface Signable {
  /** 1 to 255 visible ASCII characters without a full stop; the same on every attempt. */
  readonly id: string;
  /** Exactly the bytes that are sent. */
  readonly body: Uint8Array;
  /** When the attempt is made. @default now */
  readonly at?: Date;
  /** Order, event time, attempt and replay marker, for receivers that know Posthorn. */
  readonly stamp?: Stamp;
}

/** Headers to send, by their lower-case names. */
export type SignedHeaders = Readonly<Record<string, string>>;

/** Makes a signer of `whsec_` secrets and `whsk_` keys. */
export function createSigner(options: Pick<VerifierOptions, "secrets" | "clock">): Signer {
  const keys = parseSecrets(options.secrets, parseSigningKey);
  if (keys.length > MAX_KEYS) {
    throw new PosthornError<SignatureErrorCode>(
      "option_invalid",
      `\`secrets\` holds ${keys.length} keys; receivers read the signatures of at most ${MAX_KEYS}. Remove retired ones.`,
    );
  }
  return Object.freeze({
    keys: Object.freeze(keys),
    clock: options.clock ?? WALL_CLOCK,
  });
}

/** Signs by Standard Webhooks with every key, and returns the headers of one attempt. */
export async function sign(signer: Signer, event: Signable): Promise<SignedHeaders> {
  const draft = prepare(signer, event);
  const standard = await Promise.all(signer.keys.map((key) => produce(key, draft.content)));
  const stamped = await Promise.all(
    stampWork(signer, draft, standard).map(({ key, content }) => produce(key, content)),
  );
  return finish(signer, draft, standard, stamped);
}

/** The same without a promise, on Node, Bun and Deno. */
export function signSync(signer: Signer, event: Signable): SignedHeaders {
  const draft = prepare(signer, event);
  const standard = signer.keys.map((key) => produceSync(key, draft.content));
  const stamped = stampWork(signer, draft, standard).map(({ key, content }) => produceSync(key, content));
  return finish(signer, draft, standard, stamped);
}

interface Draft {
  readonly id: string;
  readonly timestamp: string;
  readonly content: Content;
  /** Undefined when the event carries no stamp. */
  readonly stampTexts: readonly string[] | undefined;
}

function prepare(signer: Signer, event: Signable): Draft {
  if (!isEventId(event.id)) {
    throw unsignable(
      `its id must be 1 to 255 visible ASCII characters without a full stop, and it is ${JSON.stringify([event.id]).slice(1, 80)}`,
    );
  }
  if (!(event.body instanceof Uint8Array))
    throw unsignable("its body must be a Uint8Array, exactly the bytes that are sent");
  const seconds = Math.floor((event.at?.getTime() ?? signer.clock.now()) / 1000);
  if (!(seconds >= 1 && seconds <= MAX_SECONDS)) throw unsignable("`at` is not a time between 1970 and 5138");
  const timestamp = String(seconds);
  return {
    id: event.id,
    timestamp,
    content: [`${event.id}.${timestamp}.`, event.body],
    stampTexts: event.stamp === undefined ? undefined : writeStamp(event.stamp),
  };
}

function stampWork(
  signer: Signer,
  draft: Draft,
  standard: readonly Uint8Array[],
): readonly { readonly key: Key; readonly content: Content }[] {
  const { stampTexts } = draft;
  if (stampTexts === undefined) return [];
  return signer.keys.map((key, index) => ({
    key,
    content: stampContent(
      STAMP_VERSIONS[versionOf(key)],
      draft,
      stampTexts,
      standard[index] ?? new Uint8Array(),
    ),
  }));
}

function finish(
  signer: Signer,
  draft: Draft,
  standard: readonly Uint8Array[],
  stamped: readonly Uint8Array[],
): SignedHeaders {
  const entries = [
    ...standard.map((signature, index) => entry(signer.keys[index], (version) => version, signature)),
    ...stamped.map((signature, index) =>
      entry(signer.keys[index], (version) => STAMP_VERSIONS[version], signature),
    ),
  ];
  const headers: Record<string, string> = {
    "webhook-id": draft.id,
    "webhook-timestamp": draft.timestamp,
    "webhook-signature": entries.join(" "),
    "idempotency-key": draft.id,
  };
  for (const [index, text] of (draft.stampTexts ?? []).entries()) {
    if (text !== "") headers[STAMP_HEADERS[index] as string] = text;
  }
  return headers;
}

function entry(key: Key | undefined, name: (version: "v1" | "v1a") => string, signature: Uint8Array): string {
  return `${name(versionOf(key))},${encodeBase64(signature)}`;
}

function versionOf(key: Key | undefined): "v1" | "v1a" {
  return key?.algorithm === "ed25519_private" ? "v1a" : "v1";
}

function parseSigningKey(secret: string, name: string): Key {
  const key = parseStandardSecret(secret, name);
  if (key.algorithm !== "ed25519") return key;
  throw malformedSecret(name, 'is a "whpk_" public key, which cannot sign', 'Sign with its "whsk_" key.');
}

function unsignable(found: string): PosthornError<SignatureErrorCode> {
  return new PosthornError("event_unsignable", `The event cannot be signed: ${found}.`);
}
