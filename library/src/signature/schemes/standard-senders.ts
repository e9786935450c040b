import { decodeBase64 } from "../../bytes.js";
import { identityAt, sayPlaces } from "../event-places.js";
import type { EventPlaces } from "../event-places.js";
import { findHeader } from "../headers/headers.js";
import { Key } from "../keys/key.js";
import { parseVerifyingSecret } from "../keys/secret.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { DescribedScheme, Verified, Verifier } from "../scheme.js";
import type { VerifierOptions } from "../verifier.js";
import { STANDARD_WEBHOOKS } from "./standard.js";

// Providers that sign by Standard Webhooks, under its header names or Svix's. Each is data: what to paste, where its bodies
// carry type and time, and how long it repeats.

type Facts = Pick<DescribedScheme, "name" | "title" | "secret" | "evidence"> & Partial<DescribedScheme>;

// Svix, which delivers for them, goes on for 27 h 35 min.
const SVIX_HORIZON_S = 99_305;
const WHSEC = 'the endpoint\'s signing secret, "whsec_…"';

function standardSender(facts: Facts, places: Omit<EventPlaces, "id">): DescribedScheme {
  const all: EventPlaces = { ...places, id: { header: "webhook-id" } };
  return Object.freeze({
    ...STANDARD_WEBHOOKS,
    identity: sayPlaces(all),
    identify: ({ request }: Verified) => {
      const named = identityAt(all, request);
      return [{ ...named, id: named.id ?? findHeader(request.headers, "svix-id") }];
    },
    ...facts,
  });
}

/** Anthropic: what happens to agents, sessions and batches. The type stands beside what the event is about. */
export const ANTHROPIC: DescribedScheme = /* @__PURE__ */ standardSender(
  {
    name: "anthropic",
    title: "Anthropic",
    secret: 'the webhook\'s signing key, "whsec_…"',
    evidence: { kind: "official_library", name: "@anthropic-ai/sdk", version: "1.10.0" },
  },
  { type: { pointer: ["data", "type"] }, time: { pointer: ["created_at"], unit: "iso" } },
);

/** Clerk, which Svix delivers for. */
export const CLERK: DescribedScheme = /* @__PURE__ */ standardSender(
  {
    name: "clerk",
    title: "Clerk",
    secret: WHSEC,
    evidence: { kind: "official_library", name: "@clerk/backend", version: "3.20.1" },
    retryHorizonS: SVIX_HORIZON_S,
  },
  { type: { pointer: ["type"] }, time: { pointer: ["timestamp"], unit: "ms" } },
);

/** OpenAI: responses, batches, fine-tuning jobs and evals that end in the background. */
export const OPENAI: DescribedScheme = /* @__PURE__ */ standardSender(
  {
    name: "openai",
    title: "OpenAI",
    secret: WHSEC,
    evidence: { kind: "official_library", name: "openai", version: "6.49.0" },
    // "For up to 72 hours."
    retryHorizonS: 259_200,
  },
  { type: { pointer: ["type"] }, time: { pointer: ["created_at"], unit: "s" } },
);

/**
 * Polar. The whole text of a secret is the key if Polar made it before 8 September 2026; the key of a later one is its
 * base64, as the standard has it. Both look alike, so both keys count.
 */
export const POLAR: DescribedScheme = /* @__PURE__ */ standardSender(
  {
    name: "polar",
    title: "Polar",
    secret: "the secret that you gave the endpoint, or that Polar made for it",
    evidence: { kind: "official_library", name: "@polar-sh/sdk", version: "1.0.1" },
  },
  { type: { pointer: ["type"] }, time: { pointer: ["timestamp"], unit: "iso" } },
);

/** Replicate. The body is the prediction, and its status is all that tells what happened. */
export const REPLICATE: DescribedScheme = /* @__PURE__ */ standardSender(
  {
    name: "replicate",
    title: "Replicate",
    secret: 'the account\'s webhook signing key, "whsec_…"',
    evidence: { kind: "official_library", name: "replicate", version: "1.4.0" },
  },
  { type: { pointer: ["status"] }, time: undefined },
);

/** Resend, which Svix delivers for. */
export const RESEND: DescribedScheme = /* @__PURE__ */ standardSender(
  {
    name: "resend",
    title: "Resend",
    secret: WHSEC,
    evidence: { kind: "official_library", name: "resend", version: "6.38.0" },
    retryHorizonS: SVIX_HORIZON_S,
  },
  { type: { pointer: ["type"] }, time: { pointer: ["created_at"], unit: "iso" } },
);

/** Supabase's auth hooks (send email, send SMS and others). Its database webhooks are not signed. */
export const SUPABASE: DescribedScheme = /* @__PURE__ */ standardSender(
  {
    name: "supabase",
    title: "Supabase (auth hooks)",
    secret: 'the hook\'s secret, "v1,whsec_…"',
    evidence: {
      kind: "published_example",
      where: "supabase.com/docs, Auth Hooks: `standardwebhooks` checks it, and 1.1.1 made the vector",
    },
    // Three attempts within seconds, while its user waits.
    retryHorizonS: 30,
    // A hook that answers nothing has failed.
    replies: { success: { status: 200, headers: { "content-type": "application/json" }, body: "{}" } },
  },
  { type: { pointer: ["email_data", "email_action_type"] }, time: undefined },
);

/**
 * Verifies Anthropic.
 *
 * @example
 * const verifier = anthropic({ secrets: process.env.ANTHROPIC_WEBHOOK_SIGNING_KEY });
 */
export function anthropic(options: VerifierOptions): Verifier {
  return createProviderVerifier(ANTHROPIC, options, parseVerifyingSecret);
}

/**
 * Verifies Clerk.
 *
 * @example
 * const verifier = clerk({ secrets: process.env.CLERK_WEBHOOK_SIGNING_SECRET });
 */
export function clerk(options: VerifierOptions): Verifier {
  return createProviderVerifier(CLERK, options, parseVerifyingSecret);
}

/**
 * Verifies OpenAI.
 *
 * @example
 * const verifier = openai({ secrets: process.env.OPENAI_WEBHOOK_SECRET });
 */
export function openai(options: VerifierOptions): Verifier {
  return createProviderVerifier(OPENAI, options, parseVerifyingSecret);
}

/**
 * Verifies Polar.
 *
 * @example
 * const verifier = polar({ secrets: process.env.POLAR_WEBHOOK_SECRET });
 */
export function polar(options: VerifierOptions): Verifier {
  const verifier = createProviderVerifier(POLAR, options, textSecret);
  if (options.keys !== undefined || typeof verifier.keys === "function") return verifier;
  const { keys } = verifier.keys;
  return Object.freeze({ ...verifier, keys: { keys: Object.freeze([...keys, ...keys.flatMap(decoded)]) } });
}

/**
 * Verifies Replicate.
 *
 * @example
 * const verifier = replicate({ secrets: process.env.REPLICATE_WEBHOOK_SECRET });
 */
export function replicate(options: VerifierOptions): Verifier {
  return createProviderVerifier(REPLICATE, options, parseVerifyingSecret);
}

/**
 * Verifies Resend.
 *
 * @example
 * const verifier = resend({ secrets: process.env.RESEND_WEBHOOK_SECRET });
 */
export function resend(options: VerifierOptions): Verifier {
  return createProviderVerifier(RESEND, options, parseVerifyingSecret);
}

/**
 * Verifies Supabase's auth hooks.
 *
 * @example
 * const verifier = supabase({ secrets: process.env.SEND_EMAIL_HOOK_SECRET });
 */
export function supabase(options: VerifierOptions): Verifier {
  return createProviderVerifier(SUPABASE, options, versionedSecret);
}

function textSecret(secret: string, name: string): Key {
  return parseVerifyingSecret(secret, name, "utf8");
}

/** The key of the standard that stands in the text of a secret, where the text is base64 of 24 bytes or more. */
function decoded(key: Key): readonly Key[] {
  const text = new TextDecoder().decode(key.material()).replace(/^whsec_/, "");
  // The alphabet of Polar's own library, which the oldest secrets, `polar_whs_…`, are not written in.
  const bytes = /^[A-Za-z0-9+/=]+$/.test(text) ? decodeBase64(text) : undefined;
  if (key.algorithm !== "hmac_sha256" || bytes === undefined || bytes.length < 24) return [];
  return [new Key("hmac_sha256", key.name, bytes)];
}

/** Supabase shows its secrets with the signature's version before them. */
function versionedSecret(secret: string, name: string): Key {
  return parseVerifyingSecret(secret.replace(/^v1,/, ""), name);
}
