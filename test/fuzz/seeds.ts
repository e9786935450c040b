import { verifySync } from "posthorn";
import type { SignedRequest, Verified, Verifier } from "posthorn";
import type { Genuine } from "./genuine.js";
import { collectGenuine } from "./genuine.js";
import type { Vector } from "../vectors/vector.js";
import { requestOf, vectorFiles, verifierOf } from "../vectors/vector.js";

/** A request of the vectors, to be mutated. */
export interface Seed {
  readonly scheme: string;
  readonly vector: Vector;
  readonly verifier: Verifier;
  readonly request: PlainRequest;
  /** Undefined where the request is refused as it stands. */
  readonly verified: Verified | undefined;
}

/** A request whose headers are a record, so that a mutation can reach each of them. */
export interface PlainRequest extends SignedRequest {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

/** The seeds of a scheme, and what was really signed among them. */
export interface Corpus {
  readonly seeds: readonly Seed[];
  readonly genuine: Genuine;
}

/** The corpus of each scheme; a case whose verifier cannot be made is no seed. */
export function readCorpora(): ReadonlyMap<string, Corpus> {
  return new Map(
    vectorFiles.map(({ scheme, cases }) => {
      const seeds = cases.flatMap((vector) => seedOf(scheme, vector) ?? []);
      return [scheme, { seeds, genuine: collectGenuine(seeds) }];
    }),
  );
}

function seedOf(scheme: string, vector: Vector): Seed | undefined {
  const verifier = attempt(() => verifierOf(scheme, vector));
  if (verifier === undefined) return undefined;
  const request = requestOf(vector) as PlainRequest;
  return { scheme, vector, verifier, request, verified: attempt(() => verifySync(verifier, request)) };
}

/** A verifier like the seed's with other secrets; throws where none can be made of them. */
export function withSecrets({ scheme, vector }: Seed, secrets: readonly string[]): Verifier {
  const { jwks: _jwks, ...rest } = vector.verifier;
  return verifierOf(scheme, { ...vector, verifier: { ...rest, secrets } });
}

/** Whether the scheme's secrets are given as `secrets`. */
export function hasSecrets({ vector }: Seed): boolean {
  return (vector.verifier.secrets ?? []).length > 0;
}

function attempt<Value>(run: () => Value): Value | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}
