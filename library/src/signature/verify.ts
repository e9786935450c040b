import { answer, answerSync } from "#crypto";
import { notify } from "../observer.js";
import { isPosthornError, PosthornError } from "../posthorn-error.js";
import type { Key, KeySet } from "./keys/key.js";
import type { Answer, Question } from "./crypto/question.js";
import type { Claim, Match, Reading, Refusal, SignedRequest, Verified, Verifier } from "./scheme.js";
import type { SignatureErrorCode } from "./signature-errors.js";
import { checkHeaders } from "./headers/check-headers.js";
import { checkTimestamp } from "./headers/timestamp.js";

// One pure implementation of the rules: read the request, ask which signatures hold, judge.
// verify and verifySync differ only in how they wait for the answers.

/**
 * Proves that a request comes from its source, over its exact bytes. Throws a PosthornError, and
 * nothing else, when it does not.
 */
export async function verify(verifier: Verifier, request: SignedRequest): Promise<Verified> {
  let keys: readonly Key[] = [];
  try {
    const reading = readRequest(verifier, request);
    const { keys: source } = verifier;
    keys = (typeof source === "function" ? await source(reading.hint ?? {}) : source).keys;
    const questions = questionsOf(verifier, reading, keys);
    const match = judge(questions, await Promise.all(questions.map(answer)), keys);
    if (reading.also !== undefined) await answer(reading.also).then(mustHold);
    const stamp = reading.stamp?.(match);
    return accept(verifier, request, {
      reading,
      match,
      stamp: stamp && (await answer(ask(stamp.claim, match.key))) >= 0 ? stamp.stamp : undefined,
    });
  } catch (error) {
    const refusal = { verifier, request, keys, error: ownError(error) };
    throw refuse(refusal, await verifier.diagnose?.(refusal));
  }
}

/** The same without a promise, on Node, Bun and Deno; its keys must be values. */
export function verifySync(verifier: Verifier, request: SignedRequest): Verified {
  let keys: readonly Key[] = [];
  try {
    keys = presentKeys(verifier).keys;
    const reading = readRequest(verifier, request);
    const questions = questionsOf(verifier, reading, keys);
    const match = judge(questions, questions.map(answerSync), keys);
    if (reading.also !== undefined) mustHold(answerSync(reading.also));
    const stamp = reading.stamp?.(match);
    return accept(verifier, request, {
      reading,
      match,
      stamp: stamp && answerSync(ask(stamp.claim, match.key)) >= 0 ? stamp.stamp : undefined,
    });
  } catch (error) {
    const refusal = { verifier, request, keys, error: ownError(error) };
    throw refuse(refusal, verifier.diagnose?.sync(refusal));
  }
}

function presentKeys(verifier: Verifier): KeySet {
  if (typeof verifier.keys !== "function") return verifier.keys;
  throw failure(
    "keys_asynchronous",
    "The keys of this verifier come by a promise: await verify() instead of verifySync().",
  );
}

function readRequest(verifier: Verifier, request: SignedRequest): Reading {
  const body: unknown = request.body;
  if (!(body instanceof Uint8Array)) {
    throw failure(
      "body_not_raw",
      `The body is of type ${typeof body}; expected its exact bytes: new Uint8Array(await request.arrayBuffer()).`,
    );
  }
  checkHeaders(verifier.scheme, request);
  const reading = verifier.scheme.read(request, verifier);
  if (reading.signedAtS !== undefined && verifier.toleranceS !== undefined) {
    checkTimestamp(reading.signedAtS, verifier.clock.now(), verifier.toleranceS);
  }
  return reading;
}

function questionsOf({ clock }: Verifier, reading: Reading, keys: readonly Key[]): readonly Question[] {
  const questions: Question[] = [];
  // A key may have leaked, or been given up, once its time is over.
  const counts = ({ period }: Key): boolean => period === undefined || period.includes(clock.now());
  for (const claim of reading.claims) {
    for (const key of keys)
      if (key.algorithm === claim.algorithm && counts(key)) questions.push(ask(claim, key));
  }
  if (questions.length > 0) return questions;
  if (keys.length > 0 && !keys.some(counts)) throw outOfPeriod(keys);
  throw failure("signature_unsupported", "The given keys can check no signature in the request.", {
    detail: { algorithms: keys.map((key) => key.algorithm) },
  });
}

function outOfPeriod(keys: readonly Key[]): PosthornError<SignatureErrorCode> {
  const periods = keys.map(({ name, period }) => `${name}: ${String(period)}`).join("; ");
  return failure("key_out_of_period", `No given key is valid now: ${periods}.`, {
    detail: { keys: keys.map((key) => key.name) },
  });
}

function ask({ content, signatures }: Claim, key: Key): Question {
  return { key, content, signatures };
}

function judge(questions: readonly Question[], answers: readonly Answer[], keys: readonly Key[]): Match {
  // By index: an iterator of entries costs as much as a tenth of the hash at 1 kB.
  for (let index = 0; index < questions.length; index++) {
    const { key, signatures } = questions[index] as Question;
    const signature = signatures[answers[index] ?? -1];
    if (signature === undefined) continue;
    // By name: a secret that its provider may use in two forms has two keys of one name, the second behind all first ones.
    return { key, keyIndex: keys.findIndex(({ name }) => name === key.name), signature };
  }
  throw failure(
    "signature_mismatch",
    `No signature in the request matches any of the ${keys.length} given key(s).`,
    {
      detail: { keys: keys.map((key) => key.name) },
    },
  );
}

function mustHold(answered: Answer): void {
  if (answered < 0) throw failure("signature_mismatch", "The signature holds, but not for this body.");
}

function accept(
  verifier: Verifier,
  request: SignedRequest,
  proof: { readonly reading: Reading; readonly match: Match; readonly stamp: Verified["stamp"] },
): Verified {
  const { match, reading, stamp } = proof;
  if (verifier.requireOrder && stamp?.lane === undefined) {
    throw failure("order_required", "This source demands signed order headers.");
  }
  if (verifier.observer !== undefined) {
    const { scheme } = verifier;
    notify(verifier.observer, {
      kind: "signature_accepted",
      scheme: scheme.name,
      key: match.key.name,
      keyIndex: match.keyIndex,
    });
  }
  const signedAt = reading.signedAtS === undefined ? undefined : new Date(reading.signedAtS * 1000);
  return { verifier, request, key: match.key.name, keyIndex: match.keyIndex, match, signedAt, stamp };
}

function refuse({ verifier, error }: Refusal, diagnosis: readonly string[] = []): PosthornError {
  const { code, message, detail } = error;
  const scheme = verifier.scheme.name;
  notify(verifier.observer, { kind: "signature_refused", scheme, code, message, detail, diagnosis });
  if (diagnosis.length === 0) return error;
  const explained = { detail: { ...detail, diagnosis }, cause: error.cause };
  return new PosthornError(code, [message, ...diagnosis].join(" "), explained);
}

// A key source that rejects, or a scheme with a mistake in it, must not let another kind of error out.
function ownError(error: unknown): PosthornError {
  if (isPosthornError(error)) return error;
  return failure("signature_unverifiable", "The request could not be checked: see the cause.", {
    cause: error,
  });
}

function failure(
  code: SignatureErrorCode,
  message: string,
  options?: ConstructorParameters<typeof PosthornError>[2],
): PosthornError<SignatureErrorCode> {
  return new PosthornError(code, message, options);
}
