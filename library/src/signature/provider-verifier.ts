import { unknownOption } from "../known-options.js";
import type { OptionNames } from "../known-options.js";
import { notify } from "../observer.js";
import type { Observer } from "../observer.js";
import { PosthornError } from "../posthorn-error.js";
import type { Key } from "./keys/key.js";
import { malformedSecret } from "./keys/secret.js";
import type { DescribedScheme, Scheme, Verifier } from "./scheme.js";
import type { SignatureErrorCode } from "./signature-errors.js";
import { createVerifier } from "./verifier.js";
import type { VerifierOptions } from "./verifier.js";

// What only the schemes of providers need checked; a bundle of Standard Webhooks alone carries none of it.

// The provider chose the secret, so it cannot be refused; but one this short can be guessed offline
// from a single captured request.
const SHORTEST_STRONG_BYTES = 16;

const OPTIONS: OptionNames<VerifierOptions> = {
  secrets: true,
  keys: true,
  toleranceS: true,
  publicUrl: true,
  clock: true,
  observer: true,
  diagnose: true,
};

/** Binds a provider's scheme to its keys; `own` are the names of the options that only this scheme has. */
export function createProviderVerifier(
  scheme: DescribedScheme,
  given: VerifierOptions,
  parse: (secret: string, name: string) => Key,
  own: Readonly<object> = {},
): Verifier {
  // Callers without types may leave it out, and are told of the secret that is missing.
  const options = Object(given) as VerifierOptions;
  const unknown = unknownOption(scheme.title, given, { ...OPTIONS, ...own });
  if (unknown !== undefined) throw invalid(unknown);
  checkUrl(options.publicUrl);
  if (options.toleranceS !== undefined && !scheme.covers.time) {
    // Silence here would let the caller believe that old requests are refused.
    throw invalid(
      `toleranceS is ${options.toleranceS}; ${scheme.title} signs no time, so no tolerance can be kept. Leave it out.`,
    );
  }
  const verifier = createVerifier(scheme, options, (secret, name) => {
    refuseOtherCredential(secret, name, scheme);
    return parse(secret, name);
  });
  if (typeof verifier.keys !== "function") signalWeakness(scheme, verifier.keys.keys, options.observer);
  return verifier;
}

/** Refuses what can be no webhook's secret: it would be accepted, and every request would then be refused. */
function refuseOtherCredential(secret: string, name: string, scheme: DescribedScheme): void {
  const found = otherCredential(secret);
  if (found !== undefined) throw malformedSecret(name, found, `Paste ${scheme.secret}.`);
}

function otherCredential(secret: string): string | undefined {
  const [apiKey] = /^[srp]k_(?:live|test)_/.exec(secret) ?? [];
  // Three dots alone, or behind a prefix such as "whsec_": what a person has chosen may end in them.
  const [dots] = /…$|(?<=^|^\w+_\w*)\.{3}$/.exec(secret) ?? [];
  if (dots !== undefined) return `is a placeholder: it ends in "${dots}"`;
  if (apiKey !== undefined) return `is an API key, "${apiKey}…"`;
  return secret.length > 1 ? undefined : "has one character";
}

function signalWeakness(scheme: Scheme, keys: readonly Key[], observer: Observer | undefined): void {
  for (const key of keys) {
    const bytes = key.material().length;
    if (bytes >= SHORTEST_STRONG_BYTES) continue;
    notify(observer, { kind: "secret_weak", scheme: scheme.name, key: key.name, bytes });
  }
}

function checkUrl(url: string | undefined): void {
  if (url === undefined || (/^https?:\/\//i.test(url) && URL.canParse(url))) return;
  throw invalid(
    `publicUrl is "${url}"; expected an absolute http or https URL such as "https://example.com/hooks".`,
  );
}

function invalid(message: string): PosthornError<SignatureErrorCode> {
  return new PosthornError("option_invalid", message);
}
