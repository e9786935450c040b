import type { Clock } from "../clock.js";
import { systemClock } from "../clock.js";
import { PosthornError } from "../posthorn-error.js";
import { notify } from "../observer.js";
import type { Observer } from "../observer.js";
import type { Key, KeySource } from "./key.js";
import type { Diagnose, Scheme, Verifier } from "./scheme.js";
import type { SignatureErrorCode } from "./signature-errors.js";

/** A secret with a name, so that the verdict can say which one matched. */
export interface NamedSecret {
  readonly name: string;
  readonly secret: string;
}

/** What every scheme can be told. */
export interface VerifierOptions {
  /** One secret, or all that are active at once: during a rotation, the old and the new. */
  readonly secrets?: string | NamedSecret | readonly (string | NamedSecret)[];
  /** Instead of `secrets`: keys as values, or a function that brings them (for `verify()` only). */
  readonly keys?: KeySource;
  /** @default the scheme's own, 300 for Standard Webhooks */
  readonly toleranceS?: number;
  /** The URL as the provider has it, for schemes that sign it: an origin, or a whole URL without its query. */
  readonly publicUrl?: string;
  /** @default the system's clock */
  readonly clock?: Clock;
  /** Told of every verdict. */
  readonly observer?: Observer;
  /** Forensics, from `posthorn`: explains a refusal in the error and to the observer. Left out, nothing of it is bundled. */
  readonly diagnose?: Diagnose;
}

/** Binds a scheme to its keys; `parse` turns one secret into a key or throws `secret_malformed`. */
export function createVerifier(
  scheme: Scheme,
  options: VerifierOptions & { readonly requireOrder?: boolean },
  parse: (secret: string, name: string) => Key,
): Verifier {
  const keys = options.keys ?? { keys: Object.freeze(parseSecrets(options.secrets, parse)) };
  if (typeof keys !== "function") signalWeakness(scheme, keys.keys, options.observer);
  return Object.freeze({
    scheme,
    keys,
    toleranceS: checkedTolerance(scheme, options.toleranceS) ?? scheme.toleranceS,
    publicUrl: checkedUrl(options.publicUrl),
    requireOrder: options.requireOrder ?? false,
    clock: options.clock ?? systemClock,
    observer: options.observer,
    diagnose: options.diagnose,
  });
}

/** Parses one or many secrets. None at all is an error: a verifier without keys would have to guess. */
export function parseSecrets(
  secrets: VerifierOptions["secrets"],
  parse: (secret: string, name: string) => Key,
): Key[] {
  const given = secrets === undefined ? [] : Array.isArray(secrets) ? secrets : [secrets];
  if (given.length === 0) throw missing("`secrets` is empty.");
  return given.map((entry: unknown, index) => {
    const named = typeof entry === "object" && entry !== null ? (entry as Partial<NamedSecret>) : undefined;
    const name = named?.name ?? `secret ${index + 1}`;
    const secret = named === undefined ? entry : named.secret;
    if (typeof secret !== "string" || secret === "") throw missing(`${name} is ${describe(secret)}.`);
    return parse(secret, name);
  });
}

// The provider chose the secret, so it cannot be refused; but one this short can be guessed offline
// from a single captured request.
const SHORTEST_STRONG_BYTES = 16;

function signalWeakness(scheme: Scheme, keys: readonly Key[], observer: Observer | undefined): void {
  for (const key of keys) {
    const bytes = key.material().length;
    if (bytes >= SHORTEST_STRONG_BYTES) continue;
    notify(observer, { kind: "secret_weak", scheme: scheme.name, key: key.name, bytes });
  }
}

function describe(value: unknown): string {
  return value === "" ? "an empty text" : value === null ? "null" : `of type ${typeof value}`;
}

function missing(found: string): PosthornError<SignatureErrorCode> {
  return new PosthornError(
    "secret_missing",
    `${found} Expected at least one non-empty secret; is the environment variable set?`,
  );
}

function checkedTolerance(scheme: Scheme, toleranceS: number | undefined): number | undefined {
  if (toleranceS === undefined) return undefined;
  // Silence here would let the caller believe that old requests are refused.
  const why = !scheme.covers.time
    ? `${scheme.title} signs no time, so no tolerance can be kept; leave it out.`
    : "expected a number of seconds above 0.";
  if (scheme.covers.time && Number.isFinite(toleranceS) && toleranceS > 0) return toleranceS;
  throw new PosthornError<SignatureErrorCode>("option_invalid", `toleranceS is ${toleranceS}; ${why}`);
}

function checkedUrl(url: string | undefined): string | undefined {
  if (url === undefined || (/^https?:\/\//i.test(url) && URL.canParse(url))) return url;
  throw new PosthornError<SignatureErrorCode>(
    "option_invalid",
    `publicUrl is "${url}"; expected an absolute http or https URL such as "https://example.com/hooks".`,
  );
}
