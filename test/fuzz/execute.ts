import { checkHeaders, diagnose, ERROR_CODES, isPosthornError, readEvents, verifySync } from "posthorn";
import type { Verified, Verifier } from "posthorn";
import type { Chance } from "../chance.js";
import { createChance } from "../chance.js";
import { mutateRequest, mutateText, randomRequest } from "./mutate.js";
import type { Genuine } from "./genuine.js";
import { objectionTo } from "./genuine.js";
import type { Corpus, PlainRequest, Seed } from "./seeds.js";
import { hasSecrets, withSecrets } from "./seeds.js";

const SLOW_MS = 50;

/** What one execution came to: "accepted", the code of a refusal, or a failure of ours. */
export type Result =
  | { readonly kind: "accepted" | "refused"; readonly code: string }
  | { readonly kind: "failed"; readonly why: string };

/** Something the verifier was asked to judge. */
export interface Trial {
  readonly genuine: Genuine;
  readonly seed: Seed;
  readonly verifier: Verifier;
  readonly request: PlainRequest;
  /** Whether the verifier's keys were mutated. */
  readonly otherKeys: boolean;
}

/** The trial of a number: the same seed and number give the same trial. */
export function drawTrial({ seeds, genuine }: Corpus, seedNumber: number): Trial {
  const chance = createChance(seedNumber);
  const seed = chance.pick(seeds);
  const other = chance.pick(seeds).request;
  const kind = chance.below(16);
  const otherKeys = kind === 0 && hasSecrets(seed);
  const verifier = otherKeys ? mutatedKeys(seed, chance) : seed.verifier;
  return {
    genuine,
    seed,
    // Forensics asks up to 24 questions: enough that some executions have it.
    verifier: kind === 1 ? { ...verifier, diagnose } : verifier,
    request: otherKeys ? seed.request : drawRequest(kind),
    otherKeys,
  };

  function drawRequest(drawn: number): PlainRequest {
    return drawn === 2 ? randomRequest(seed.request, chance) : mutateRequest(seed.request, other, chance);
  }
}

function mutatedKeys(seed: Seed, chance: Chance): Verifier {
  const secrets = (seed.vector.verifier.secrets ?? []).map((secret) => mutateText(secret, chance));
  try {
    return withSecrets(seed, secrets);
  } catch (error) {
    // A secret that is refused at construction is one verdict; any other error is a fault.
    if (isPosthornError(error) && error.code in ERROR_CODES) return seed.verifier;
    throw error;
  }
}

/** Runs a trial and holds its outcome against what must never happen. */
export function execute(trial: Trial): Result {
  const startedAt = performance.now();
  const result = outcome(trial);
  if (performance.now() - startedAt <= SLOW_MS || result.kind === "failed") return result;
  // A collection of garbage or a busy machine is slow once, not three times.
  const fastest = Math.min(...[1, 2, 3].map(() => timed(() => outcome(trial))));
  return fastest <= SLOW_MS
    ? result
    : { kind: "failed", why: `took ${Math.round(fastest)} ms each of three times` };
}

function timed(run: () => unknown): number {
  const startedAt = performance.now();
  run();
  return performance.now() - startedAt;
}

function outcome(trial: Trial): Result {
  let verified: Verified;
  try {
    verified = verifySync(trial.verifier, trial.request);
  } catch (error) {
    if (!isPosthornError(error)) return { kind: "failed", why: `threw ${String(error)}` };
    if (!(error.code in ERROR_CODES)) return { kind: "failed", why: `threw the unknown code ${error.code}` };
    // The check was not made because our own code stumbled. A public key that is none may bring that about, a request never.
    if (error.code === "signature_unverifiable" && !trial.otherKeys)
      return { kind: "failed", why: `stumbled: ${String(error.cause)}` };
    return identified(trial) ?? { kind: "refused", code: error.code };
  }
  const why = objectionTo(verified, trial.request, trial.genuine);
  return why === undefined ? { kind: "accepted", code: "accepted" } : { kind: "failed", why };
}

/** Naming the events must never throw, whatever the body is; the request only has to be readable. */
function identified({ verifier, request, seed }: Trial): Result | undefined {
  if (seed.verified === undefined) return undefined;
  const verified = { ...seed.verified, verifier, request };
  try {
    checkHeaders(verifier.scheme, request);
    verifier.scheme.read(request, verifier);
  } catch {
    return undefined;
  }
  try {
    for (const event of readEvents(verified))
      if (typeof event.type !== "string") return { kind: "failed", why: "an event without a type" };
    void verifier.scheme.handshake?.(verified);
    return undefined;
  } catch (error) {
    return { kind: "failed", why: `identify or handshake threw ${String(error)}` };
  }
}
