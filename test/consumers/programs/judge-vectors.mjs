// Every vector through verify(), and through verifySync() where the runtime has it, with globals of the web alone.
import { isPosthornError, keySetFromJwks, readEvents, verify, verifySync } from "posthorn/verify";
import * as providers from "posthorn/providers";

/** @typedef {import("../vectors.js").Vector} Vector */
/** @typedef {import("posthorn/verify").Verifier} Verifier */
/** @typedef {import("posthorn/verify").SignedRequest} SignedRequest */
/** @typedef {import("posthorn/verify").Verified} Verified */

/**
 * @param {readonly Vector[]} vectors
 * @param {import("./check.mjs").Sync} sync
 */
export async function judgeVectors(vectors, sync) {
  /** @type {import("../expected-report.js").Counts} */
  const schemes = {};
  /** @type {string[]} */
  const failures = [];
  for (const vector of vectors) {
    const expected = canonical(vector.expect);
    const verdicts = [await judge(vector, verify)];
    if (sync === "works") verdicts.push(await judge(vector, verifySync));
    const wrong = verdicts.find((verdict) => verdict !== expected);
    if (wrong === undefined) {
      const counts = (schemes[vector.scheme] ??= { accepted: 0, refused: 0 });
      counts[vector.expect.verdict === "accept" ? "accepted" : "refused"]++;
    } else failures.push(`${vector.scheme}: ${vector.name}: found ${wrong}, expected ${expected}`);
  }
  return { schemes, failures };
}

/**
 * @param {Vector} vector
 * @param {(verifier: Verifier, request: SignedRequest) => Verified | Promise<Verified>} check
 */
async function judge(vector, check) {
  try {
    const verified = await check(verifierOf(vector), requestOf(vector));
    return canonical({
      verdict: "accept",
      key: verified.keyIndex,
      events: readEvents(verified).map(printEvent),
      // Left out of the vector, it is not looked at.
      ...("stamp" in vector.expect ? { stamp: printStamp(verified.stamp) } : {}),
    });
  } catch (error) {
    if (isPosthornError(error)) return canonical({ verdict: "reject", code: error.code });
    return `an error that is not ours: ${String(error)}`;
  }
}

/** @param {Vector} vector @returns {Verifier} */
function verifierOf({ scheme, verifier, now }) {
  const name = scheme.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase());
  const create = /** @type {Record<string, unknown>} */ ({ ...providers })[name];
  if (typeof create !== "function") throw new Error(`posthorn/providers exports no function "${name}"`);
  const { jwks, options, ...rest } = verifier;
  const clock = { now: () => now * 1000, monotonic: () => 0, sleep: () => Promise.resolve() };
  return create({
    ...rest,
    ...options,
    ...(jwks === undefined ? {} : { keys: keySetFromJwks(jwks) }),
    clock,
  });
}

/** @param {Vector} vector @returns {SignedRequest} */
function requestOf({ request: { body, bodyBase64, ...request } }) {
  const text = bodyBase64 === undefined ? undefined : atob(bodyBase64);
  const bytes =
    text === undefined
      ? new TextEncoder().encode(body ?? "")
      : Uint8Array.from(text, (character) => character.charCodeAt(0));
  return { ...request, body: bytes };
}

/** @param {import("posthorn/verify").Event} event */
function printEvent({ id, type, time }) {
  return { id: id ?? null, type, time: time?.toISOString() ?? null };
}

/** @param {import("posthorn/verify").Stamp | undefined} stamp */
function printStamp(stamp) {
  if (stamp === undefined) return null;
  const { lane, time, attempt, replay } = stamp;
  return {
    lane: lane === undefined ? null : printLane(lane),
    time: time?.toISOString() ?? null,
    attempt,
    replay,
  };
}

/** @param {import("posthorn/verify").LanePosition} lane */
function printLane({ generation, key, sequence, after }) {
  return {
    generation: String(generation),
    key,
    sequence: String(sequence),
    after: after === undefined ? null : String(after),
  };
}

/**
 * JSON with the fields in one order, so that equal values are equal texts.
 *
 * @param {unknown} value
 * @returns {string}
 */
function canonical(value) {
  return JSON.stringify(value, (_, inner) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
