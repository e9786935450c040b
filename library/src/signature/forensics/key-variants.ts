import { decodeBase64, decodeHex, encodeBase64, equalBytes, utf8 } from "../../bytes.js";
import { Key } from "../keys/key.js";
import type { Verifier } from "../scheme.js";
import { headersOf } from "./header-variants.js";
import type { Variant } from "./variant.js";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

// Prefixes that belong to a secret whose whole text is the key, and that people cut off.
const PREFIXES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    stripe: "whsec_",
    linear: "lin_wh_",
    paddle: "pdl_ntfset_",
    shopify: "shpss_",
  }),
);

// What is often put where the signing secret belongs. The text of the secret is never shown, only its kind.
const OTHER_CREDENTIALS: readonly (readonly [RegExp, string])[] = [
  [/^(ghp_|gho_|ghs_|github_pat_)/, "a GitHub access token"],
  [/^xox[abprs]-|^xapp-/, "a Slack token"],
  [/^AC[0-9a-f]{32}$/, "a Twilio account SID"],
  [/^SK[0-9a-f]{32}$/, "a Twilio API key SID"],
  [/^shp(at|ca|pa)_/, "a Shopify access token"],
  [/^lin_api_/, "a Linear API key"],
  [/^pdl_(live|sdbx)_apikey_/, "a Paddle API key"],
  [/^SG\./, "a SendGrid API key"],
  [/^-----BEGIN /, "a PEM file"],
  [/^whpk_/, "a public key of Standard Webhooks"],
];

/** The secrets as they may have been meant: other encodings of the same text, without quotes, with its prefix. */
export function* keyVariants(verifier: Verifier, keys: readonly Key[]): Generator<Variant> {
  for (const key of keys) {
    if (!isText(key)) continue;
    const seen: Uint8Array[] = [new Uint8Array(), key.material()];
    for (const [how, material] of materials(key, verifier)) {
      if (material === undefined || seen.some((each) => equalBytes(each, material))) continue;
      seen.push(material);
      yield { says: `${key.name} ${how}`, keys: [new Key(key.algorithm, key.name, material)] };
    }
  }
}

/** What can be said of the secrets without any cryptography. */
export function keyFacts(keys: readonly Key[]): readonly string[] {
  const facts: string[] = [];
  for (const [index, key] of keys.entries()) {
    // Standard Webhooks decodes its secrets, so that only encoding them again shows what was given.
    const texts = isText(key) ? [textOf(key) ?? "", encodeBase64(key.material()).replaceAll("/", "_")] : [];
    const kind = OTHER_CREDENTIALS.find(([form]) => texts.some((text) => form.test(text)))?.[1];
    if (kind !== undefined)
      facts.push(`${key.name} looks like ${kind}; expected the webhook's signing secret.`);
    const twin = keys.slice(0, index).find((other) => equalBytes(other.material(), key.material()));
    if (twin !== undefined) facts.push(`${twin.name} and ${key.name} are the same secret.`);
  }
  return facts;
}

/** What is left to say where no signature matches and nothing else explains it. */
export function unmatchedKeys(keys: readonly Key[], { scheme }: Verifier): string {
  const cure = scheme.secret ?? "the secret of the endpoint that this request was sent to";
  const likely = keys.length === 1 ? "it is" : "they are";
  return `${mismatch(keys)}; most likely ${likely} another endpoint's. Paste ${cure}.`;
}

/** The same where the body was too large to be looked into. */
export function unmatchedLarge(keys: readonly Key[], maxBytes: number): string {
  return `${mismatch(keys)}. The body has more than ${maxBytes} bytes, so forensics did not look for changes to it.`;
}

function mismatch(keys: readonly Key[]): string {
  const word = keys.every(isText) ? "secret" : "key";
  return keys.length === 1
    ? `The given ${word} does not match`
    : `None of the ${keys.length} given ${word}s matches`;
}

type Material = readonly [how: string, material: Uint8Array<ArrayBuffer> | undefined];

function* materials(key: Key, verifier: Verifier): Generator<Material> {
  const text = textOf(key);
  if (headersOf(verifier.scheme) === "standard_webhooks") yield* fromBase64(key);
  if (text === undefined) return;
  const trimmed = text.trim();
  const bare = trimmed.replace(/^(["'`])(.*)\1$/s, "$2").trim();
  yield ["has spaces or a line break around it: remove them.", utf8(trimmed)];
  yield ["has quotes around it: remove them.", utf8(bare)];
  const prefix = PREFIXES.get(verifier.scheme.name) ?? "";
  if (prefix !== "" && !bare.startsWith(prefix)) {
    yield [`lacks its prefix "${prefix}": copy it whole.`, utf8(prefix + bare)];
  }
  const unprefixed = bare.replace(/^whsec_/, "");
  yield ['is used by the sender without its prefix "whsec_".', utf8(unprefixed)];
  yield [
    `is used by the sender as base64, not as text${option(verifier, "base64")}.`,
    decodeBase64(unprefixed),
  ];
  yield [
    `is used by the sender as hexadecimal, not as text${option(verifier, "hex")}.`,
    decodeHex(unprefixed),
  ];
}

/** A secret that was decoded here, as the text that it may have come from. */
function* fromBase64(key: Key): Generator<Material> {
  const padded = encodeBase64(key.material());
  const text = padded.replace(/=+$/, "");
  const how = 'is used by the sender as text, not as base64: set secretEncoding: "utf8"';
  for (const form of new Set([text, padded])) {
    yield [`${how}, and keep its prefix "whsec_", as Stripe does.`, utf8(`whsec_${form}`)];
    yield [`${how}, without the prefix "whsec_".`, utf8(form)];
  }
  yield ["is hexadecimal, not base64: write its bytes in base64.", decodeHex(text)];
}

function option({ scheme }: Verifier, encoding: "base64" | "hex"): string {
  if (scheme.name === "standard_webhooks")
    return encoding === "base64" ? ': leave out secretEncoding: "utf8"' : "";
  return "";
}

function isText({ algorithm }: Key): boolean {
  return algorithm === "hmac_sha256" || algorithm === "hmac_sha1" || algorithm === "plain_token";
}

function textOf(key: Key): string | undefined {
  try {
    return strict.decode(key.material());
  } catch {
    // Random bytes: a secret that was decoded.
    return undefined;
  }
}
