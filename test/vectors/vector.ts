import { readdirSync, readFileSync } from "node:fs";
import type { Event, SignedRequest, Stamp, Verifier } from "posthorn";
import { keySetFromJwks, systemClock } from "posthorn";
import * as providers from "posthorn/providers";

// The language-neutral cases of spec/vectors/signature, whose format its README describes.

export interface VectorFile {
  /** The scheme's name; the file is called after it. */
  readonly scheme: string;
  readonly cases: readonly Vector[];
}

export interface Vector {
  readonly name: string;
  readonly verifier: {
    readonly secrets?: readonly string[];
    readonly jwks?: unknown;
    readonly toleranceS?: number;
    readonly options?: Readonly<Record<string, unknown>>;
  };
  /** Unix seconds. */
  readonly now: number;
  readonly request: {
    readonly method?: string;
    readonly url?: string;
    readonly headers: Readonly<Record<string, string | readonly string[]>>;
    readonly body?: string;
    readonly bodyBase64?: string;
  };
  readonly expect: Accepted | { readonly verdict: "reject"; readonly code: string };
  /** Where the signature came from. */
  readonly origin: string;
}

export interface Accepted {
  readonly verdict: "accept";
  /** Which of the verifier's keys matched. */
  readonly key: number;
  readonly events: readonly VectorEvent[];
  /** Null: the request's order headers count as absent. Left out: not looked at. */
  readonly stamp?: VectorStamp | null;
}

export interface VectorEvent {
  readonly id: string | null;
  readonly type: string;
  /** ISO 8601 in UTC with milliseconds. */
  readonly time: string | null;
}

export interface VectorStamp {
  readonly lane: {
    readonly generation: string;
    readonly key: string;
    readonly sequence: string;
    readonly after: string | null;
  } | null;
  readonly time: string | null;
  readonly attempt: number;
  readonly replay: boolean;
}

const folder = new URL("../../spec/vectors/signature/", import.meta.url);

export const vectorFiles: readonly VectorFile[] = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .toSorted()
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")) as VectorFile);

type CreateVerifier = (options: Record<string, unknown>) => Verifier;

/** The function that makes a scheme's verifiers: `lemon_squeezy` is exported as `lemonSqueezy`. */
export function creatorOf(scheme: string): CreateVerifier {
  const name = scheme.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const create = (providers as Readonly<Record<string, unknown>>)[name];
  if (typeof create === "function") return create as CreateVerifier;
  throw new Error(`posthorn/providers exports no function "${name}" for the scheme "${scheme}".`);
}

/** Throws where the case's verifier cannot be made, which is a verdict too. */
export function verifierOf(scheme: string, vector: Vector): Verifier {
  const { jwks, options, ...rest } = vector.verifier;
  return creatorOf(scheme)({
    ...rest,
    ...options,
    ...(jwks === undefined ? {} : { keys: keySetFromJwks(jwks) }),
    clock: { ...systemClock, now: () => vector.now * 1000 },
  });
}

export function requestOf({ request }: Vector): SignedRequest {
  const { method, url, headers, body, bodyBase64 } = request;
  return {
    headers,
    body: bodyBase64 === undefined ? Buffer.from(body ?? "") : Buffer.from(bodyBase64, "base64"),
    ...(method === undefined ? {} : { method }),
    ...(url === undefined ? {} : { url }),
  };
}

export function printEvent({ id, type, time }: Event): VectorEvent {
  return { id: id ?? null, type, time: time?.toISOString() ?? null };
}

export function printStamp({ lane, time, attempt, replay }: Stamp): VectorStamp {
  return {
    lane:
      lane === undefined
        ? null
        : {
            generation: String(lane.generation),
            key: lane.key,
            sequence: String(lane.sequence),
            after: lane.after === undefined ? null : String(lane.after),
          },
    time: time?.toISOString() ?? null,
    attempt,
    replay,
  };
}
