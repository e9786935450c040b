import { PosthornError } from "../posthorn-error.js";
import type { Observer } from "../observer.js";
import type { Key, KeySource } from "./keys/key.js";
import type { Diagnose, Scheme, Verifier, WallClock } from "./scheme.js";
import type { SignatureErrorCode } from "./signature-errors.js";

/** A secret with a name, so that the verdict can say which one matched. */
export interface NamedSecret {
  readonly name: string;
  readonly secret: string;
}

/** What every scheme can be told. */
export interface VerifierOptions {
  /** One secret, or all that are active at once: during a rotation, the old and the new. */
  readonly secrets?:
    | string
    | NamedSecret
    | readonly (string | NamedSecret | undefined)[]
    // An environment variable that is not set is told at start, with its name's place in the list.
    | undefined;
  /** Instead of `secrets`: keys as values, or a function that brings them (for `verify()` only). */
  readonly keys?: KeySource;
  /** @default the scheme's own, 300 for Standard Webhooks */
  readonly toleranceS?: number;
  /** The URL as the provider has it, for schemes that sign it: an origin, or a whole URL without its query. */
  readonly publicUrl?: string;
  /** @default the system's clock */
  readonly clock?: WallClock;
  /** Told of every verdict. */
  readonly observer?: Observer;
  /** Forensics, from `posthorn`: explains a refusal in the error and to the observer. Left out, nothing of it is bundled. */
  readonly diagnose?: Diagnose;
}

// Not the system clock of clock.ts: its timers would be bundled with it.
export const WALL_CLOCK: WallClock = Object.freeze({ now: () => Date.now() });

/** Binds a scheme to its keys; `parse` turns one secret into a key or throws `secret_malformed`. */
export function createVerifier(
  scheme: Scheme,
  options: VerifierOptions & { readonly requireOrder?: boolean },
  parse: (secret: string, name: string) => Key,
): Verifier {
  const keys = options.keys ?? { keys: Object.freeze(parseSecrets(options.secrets, parse)) };
  return Object.freeze({
    scheme,
    keys,
    toleranceS: checkedTolerance(options.toleranceS) ?? scheme.toleranceS,
    publicUrl: options.publicUrl,
    requireOrder: options.requireOrder ?? false,
    clock: options.clock ?? WALL_CLOCK,
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
  if (given.length === 0) throw missing("No secret is given.");
  return given.map((entry: unknown, index) => {
    const named = typeof entry === "object" && entry !== null ? (entry as Partial<NamedSecret>) : undefined;
    const name = named?.name ?? `secret ${index + 1}`;
    const secret = named === undefined ? entry : named.secret;
    if (typeof secret !== "string" || secret === "")
      throw missing(`${name} is ${secret === "" ? "empty" : typeof secret}.`);
    return parse(secret, name);
  });
}

function missing(found: string): PosthornError<SignatureErrorCode> {
  return new PosthornError(
    "secret_missing",
    `${found} Is its environment variable set, and is it given as { secrets }?`,
  );
}

function checkedTolerance(toleranceS: number | undefined): number | undefined {
  if (toleranceS === undefined || (Number.isFinite(toleranceS) && toleranceS > 0)) return toleranceS;
  throw new PosthornError<SignatureErrorCode>(
    "option_invalid",
    `toleranceS is ${toleranceS}; expected a number of seconds above 0.`,
  );
}
