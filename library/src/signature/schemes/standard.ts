import { findHeader } from "../headers/headers.js";
import type { Algorithm } from "../keys/key.js";
import type {
  Claim,
  DescribedScheme,
  Match,
  Reading,
  Scheme,
  SignedRequest,
  StampClaim,
  Verifier,
} from "../scheme.js";
import { parseVerifyingSecret } from "../keys/secret.js";
import type { SecretEncoding } from "../keys/secret.js";
import { readStandardHeaders, STANDARD_HEADERS } from "../headers/standard-headers.js";
import type { SignatureEntry, StandardHeaders } from "../headers/standard-headers.js";
import { parseStamp, STAMP_HEADERS, STAMP_VERSIONS, stampContent } from "../stamp.js";
import { parseTimestamp } from "../headers/timestamp.js";
import { createVerifier } from "../verifier.js";
import type { VerifierOptions } from "../verifier.js";

/** What Standard Webhooks can be told beyond the common options. */
export interface StandardOptions extends Omit<VerifierOptions, "publicUrl"> {
  /** Refuse requests without signed order headers, which only Posthorn's senders make. @default false */
  readonly requireOrder?: boolean;
  /** `utf8` for senders that use the text of their secret as it stands. @default "base64" */
  readonly secretEncoding?: SecretEncoding;
}

const VERSIONS: readonly { readonly version: string; readonly algorithm: Algorithm }[] = [
  { version: "v1", algorithm: "hmac_sha256" },
  { version: "v1a", algorithm: "ed25519" },
];

const RUNTIME: Scheme = {
  name: "standard_webhooks",
  title: "Standard Webhooks",
  covers: { body: true, url: false, time: true },
  // Order headers are not among them: one that stands twice breaks its signature, and counts as absent.
  headers: STANDARD_HEADERS,
  // An entry of an unknown version may contain a comma and a space.
  listHeaders: ["webhook-signature", "svix-signature"],
  toleranceS: 300,
  // The example schedule of the standard: 75 h 35 min.
  retryHorizonS: 272_100,
  batch: false,
  replies: {
    success: { status: 204 },
    stopEvent: { status: 200, headers: { "webhook-delivery": "abort-message" } },
  },
  read,
};

/**
 * Standard Webhooks 1.0.0, with Svix's header names as aliases and Posthorn's order headers. What only the
 * docs need stands here and not in what verifiers carry, so that a small bundle drops it.
 */
export const STANDARD_WEBHOOKS: DescribedScheme = /* @__PURE__ */ describe(RUNTIME, {
  secret: 'the endpoint\'s signing secret, "whsec_…", or the sender\'s public key, "whpk_…"',
  evidence: { kind: "official_library", name: "standardwebhooks", version: "1.1.1" },
  identity: {
    id: "header `webhook-id`",
    type: "body `type`",
    time: "header `posthorn-time`, or body `timestamp`",
  },
});

function describe(
  scheme: Scheme,
  facts: Pick<DescribedScheme, "secret" | "evidence" | "identity">,
): DescribedScheme {
  return { ...scheme, ...facts };
}

/**
 * Verifies Standard Webhooks: `v1` with `whsec_` secrets, `v1a` with `whpk_` keys.
 *
 * @example
 * const verifier = standardWebhooks({ secrets: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqr" });
 * const verified = await verify(verifier, { headers: request.headers, body: bytes });
 */
export function standardWebhooks(options: StandardOptions): Verifier {
  return createVerifier(RUNTIME, options, (secret, name) =>
    parseVerifyingSecret(secret, name, options.secretEncoding),
  );
}

function read(request: SignedRequest): Reading {
  const headers = readStandardHeaders(request.headers);
  const { id, timestamp, entries } = headers;
  const content = [`${id}.${timestamp}.`, request.body];
  const claims: Claim[] = [];
  for (const { version, algorithm } of VERSIONS) {
    const signatures = signaturesOf(entries, version);
    if (signatures.length > 0) claims.push({ algorithm, content, signatures });
  }
  const signedAtS = parseTimestamp(timestamp, "webhook-timestamp");
  return { claims, signedAtS, stamp: (match) => readStamp(request, headers, match) };
}

function readStamp(request: SignedRequest, headers: StandardHeaders, match: Match): StampClaim | undefined {
  const version = match.key.algorithm === "ed25519" ? STAMP_VERSIONS.v1a : STAMP_VERSIONS.v1;
  const signatures = signaturesOf(headers.entries, version);
  if (signatures.length === 0) return undefined;
  const texts = STAMP_HEADERS.map((name) => findHeader(request.headers, name) ?? "");
  const stamp = parseStamp(texts);
  if (stamp === undefined) return undefined;
  const content = stampContent(version, headers, texts, match.signature);
  return { claim: { algorithm: match.key.algorithm, content, signatures }, stamp };
}

function signaturesOf(entries: readonly SignatureEntry[], version: string): Uint8Array[] {
  const signatures: Uint8Array[] = [];
  for (const entry of entries) if (entry.version === version) signatures.push(entry.signature);
  return signatures;
}
