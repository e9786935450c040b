import { answer, answerSync } from "#crypto";
import { equalBytes } from "../../bytes.js";
import { bodyFacts, bodyVariants, parsedBodyVariants } from "./body-variants.js";
import { clockVariants, timeFacts } from "./clock-variants.js";
import { headerVariants, misplacedHeaders } from "./header-variants.js";
import { keyFacts, keyVariants, unmatchedKeys, unmatchedLarge } from "./key-variants.js";
import { urlVariants } from "./url-variants.js";
import type { Variant } from "./variant.js";
import type { Key } from "../keys/key.js";
import type { Content, Question } from "../crypto/question.js";
import type { Claim, Diagnose, Refusal } from "../scheme.js";

// A refused request costs an attacker nothing, so explaining one must cost us little.
const MAX_QUESTIONS = 24;
const MAX_BODY_BYTES = 65_536;

/** One explanation of a refusal: certain by itself, or true only if `test` finds a signature that is right. */
export interface Finding {
  readonly says: string;
  readonly test?: Question;
}

/**
 * Explains a refused request: says what is wrong and how to mend it, as far as that can be seen or
 * proved. Nothing is accepted because of it, and no finding shows a secret or a payload.
 *
 * @example
 * const verifier = standardWebhooks({ secrets, diagnose });
 */
export const diagnose: Diagnose = Object.assign(
  async (refusal: Refusal): Promise<readonly string[]> => {
    const findings = propose(refusal);
    const proved = findings.map(({ test }) => (test === undefined ? Promise.resolve(true) : holds(test)));
    return told(refusal, findings, await Promise.all(proved));
  },
  {
    sync: (refusal: Refusal): readonly string[] => {
      const findings = propose(refusal);
      return told(
        refusal,
        findings,
        findings.map(({ test }) => test === undefined || holdsSync(test)),
      );
    },
  },
);

/**
 * What may have gone wrong, bounded in number. Forensics looks at what was already found wrong: where it
 * stumbles over that, the refusal stands as it is.
 */
export function propose(refusal: Refusal): readonly Finding[] {
  try {
    const keys = keysOf(refusal);
    const certain = facts(refusal, keys).map((says) => ({ says }));
    const tested: Finding[] = [];
    for (const finding of questions(refusal, keys)) {
      if (tested.length === MAX_QUESTIONS) break;
      tested.push(finding);
    }
    return [...certain, ...tested];
  } catch {
    return [];
  }
}

function told(refusal: Refusal, findings: readonly Finding[], proved: readonly boolean[]): readonly string[] {
  const found = findings.filter((_, index) => proved[index] === true).map(({ says }) => says);
  return found.length > 0 ? found : unexplained(refusal);
}

/** A wrong secret leaves no trace: it is what remains where every other explanation failed. */
function unexplained({ error, keys, request, verifier }: Refusal): readonly string[] {
  // A signature that holds for another body names no keys: the secret is right.
  const isUnmatched = error.code === "signature_mismatch" && error.detail["keys"] !== undefined;
  if (!isUnmatched || keys.length === 0) return [];
  return request.body.length > MAX_BODY_BYTES
    ? [unmatchedLarge(keys, MAX_BODY_BYTES)]
    : [unmatchedKeys(keys, verifier)];
}

async function holds(question: Question): Promise<boolean> {
  try {
    return (await answer(question)) >= 0;
  } catch {
    return false;
  }
}

function holdsSync(question: Question): boolean {
  try {
    return answerSync(question) >= 0;
  } catch {
    return false;
  }
}

/** What is certain by looking. */
function facts(refusal: Refusal, keys: readonly Key[]): readonly string[] {
  const { request, verifier, error } = refusal;
  switch (error.code) {
    case "header_missing":
      return misplacedHeaders(request, verifier, String(error.detail["header"]));
    case "timestamp_malformed":
      return timeFacts(refusal);
    case "signature_unsupported":
      return algorithmFacts(claimsOf(refusal, {}), keys);
    case "body_malformed":
      return bodyFacts(request);
    case "signature_mismatch":
      return [...(verifier.scheme.covers.body ? bodyFacts(request) : []), ...keyFacts(keys)];
    default:
      return [];
  }
}

/** What may be, likelier causes first. */
function* variants(refusal: Refusal, keys: readonly Key[]): Generator<Variant> {
  const { request, verifier, error } = refusal;
  switch (error.code) {
    case "timestamp_out_of_range":
      yield* clockVariants(refusal);
      return;
    case "header_malformed":
    case "signature_unsupported":
      yield* headerVariants(request, verifier);
      return;
    case "url_required":
      yield* urlVariants(request, verifier);
      return;
    case "body_not_raw":
      yield* parsedBodyVariants(request);
      return;
    case "signature_mismatch":
      if (request.body.length > MAX_BODY_BYTES) return;
      yield* inTurn([
        headerVariants(request, verifier),
        bodyVariants(request),
        keyVariants(verifier, keys),
        verifier.scheme.covers.url ? urlVariants(request, verifier) : [],
      ]);
      return;
    default:
  }
}

/** One from each, then the next from each: with few questions left, no kind of cause is passed over. */
function* inTurn(sources: readonly Iterable<Variant>[]): Generator<Variant> {
  let left = sources.map((source) => source[Symbol.iterator]());
  while (left.length > 0) {
    const round = left.map((iterator) => ({ iterator, result: iterator.next() }));
    const open = round.filter(({ result }) => result.done !== true);
    for (const { result } of open) yield result.value as Variant;
    left = open.map(({ iterator }) => iterator);
  }
}

function* questions(refusal: Refusal, keys: readonly Key[]): Generator<Finding> {
  // These were asked by verify itself, and denied.
  const denied = refusal.error.code === "signature_mismatch" ? claimsOf(refusal, {}) : [];
  for (const variant of variants(refusal, keys)) {
    for (const claim of claimsOf(refusal, variant)) {
      // A change that changes nothing of what is signed explains nothing, even where the signature holds.
      if (variant.keys === undefined && denied.some((each) => equalClaims(each, claim))) continue;
      for (const key of variant.keys ?? keys) {
        if (key.algorithm !== claim.algorithm) continue;
        yield { says: variant.says, test: { key, content: claim.content, signatures: claim.signatures } };
      }
    }
  }
}

function claimsOf({ request, verifier }: Refusal, variant: Partial<Variant>): readonly Claim[] {
  try {
    return verifier.scheme.read(variant.request ?? request, variant.verifier ?? verifier).claims;
  } catch {
    // The variant is not even readable, so it is not what was signed.
    return [];
  }
}

function algorithmFacts(claims: readonly Claim[], keys: readonly Key[]): readonly string[] {
  const claimed = new Set(claims.map(({ algorithm }) => algorithm));
  const given = new Set(keys.map(({ algorithm }) => algorithm));
  if (claimed.has("ed25519") && given.has("hmac_sha256")) {
    return [
      'The request is signed with Ed25519 ("v1a"), and only secrets are given: add the sender\'s "whpk_" key.',
    ];
  }
  if (claimed.has("hmac_sha256") && given.has("ed25519")) {
    return [
      'The request is signed with a shared secret ("v1"), and only public keys are given: add the "whsec_" secret.',
    ];
  }
  return [];
}

/** The keys, also where the request was refused before they were asked for. */
function keysOf({ keys, verifier }: Refusal): readonly Key[] {
  const present = keys.length > 0 || typeof verifier.keys === "function" ? keys : verifier.keys.keys;
  return present;
}

function equalClaims(one: Claim, two: Claim): boolean {
  return equalContents(one.content, two.content) && equalContents(one.signatures, two.signatures);
}

function equalContents(one: Content, two: Content): boolean {
  return one.length === two.length && one.every((part, index) => equalParts(part, two[index] ?? ""));
}

function equalParts(one: string | Uint8Array, two: string | Uint8Array): boolean {
  if (typeof one === "string" || typeof two === "string") return one === two;
  return equalBytes(one, two);
}
