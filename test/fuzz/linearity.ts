import { diagnose, isPosthornError, readEvents, verifySync } from "posthorn";
import type { PlainRequest, Seed } from "./seeds.js";

// A parser that looks back over what it has read is quick on small inputs and stops a server on large ones. Time is
// compared with itself at four times the size: linear work takes about 4 times as long, quadratic work 16 times.

const QUADRUPLED_AT_MOST = 9;
const TRIES = 6;
/** Below this, the clock and the machine are what is measured. */
const MEASURABLE_MS = 0.05;

const HEADER_SIZE = 2000;
/** Four times this is the largest body that forensics looks into. */
const EXPLAINED_BODY_SIZE = 16_384;
const BODY_SIZE = 65_536;

const HEADER_TOKENS = [
  "v1,",
  ",",
  "=",
  " ",
  "t=1,",
  ";",
  "v1=0,",
  "v1,AA== ",
  "A",
  "%",
  "/../",
  '"',
  "\\",
  "0",
  "é",
  "ts=1;",
  "v1a,",
];

const BODY_SHAPES: readonly (readonly [name: string, make: (size: number) => string])[] = [
  ["deep arrays", (size) => `${"[".repeat(size / 2)}${"]".repeat(size / 2)}`],
  ["deep objects", (size) => `${'{"a":'.repeat(size / 6)}1${"}".repeat(size / 6)}`],
  ["arrays that never end", (size) => "[".repeat(size)],
  ["a long array", (size) => `[${"1,".repeat(size / 2)}1]`],
  ["an array of objects", (size) => `[${'{"id":1},'.repeat(size / 9)}{}]`],
  ["a name many times", (size) => `{${'"id":1,'.repeat(size / 7)}"id":2}`],
  ["many names", (size) => `{${Array.from({ length: size / 10 }, (_, index) => `"k${index}":1`).join(",")}}`],
  ["a long text", (size) => `{"id":"${"a".repeat(size)}"}`],
  ["a text of escapes", (size) => `{"id":"${'\\"'.repeat(size / 2)}"}`],
  ["a text that never ends", (size) => `{"id":"${"\\".repeat(size)}`],
  ["spaces", (size) => `{"id":${" ".repeat(size)}1}`],
  ["digits", (size) => `{"id":${"1".repeat(size)}}`],
  ["many parameters", (size) => "a=1&".repeat(size / 4)],
  ["different parameters", (size) => Array.from({ length: size / 8 }, (_, index) => `k${index}=1`).join("&")],
  ["escaped letters", (size) => `a=${"%41".repeat(size / 3)}`],
  ["broken escapes", (size) => "%".repeat(size)],
  ["equals signs", (size) => "=".repeat(size)],
  ["ampersands", (size) => "&".repeat(size)],
  ["line breaks", (size) => "\r\n".repeat(size / 2)],
  ["base64", (size) => "QUFB".repeat(size / 4)],
  ["quotes", (size) => '"'.repeat(size)],
];

/** Inputs of a scheme for which the time grows faster than their size. */
export function findSuperlinear(seed: Seed): readonly string[] {
  const found: string[] = [];
  const explaining = { ...seed, verifier: { ...seed.verifier, diagnose } };
  // No scheme reads the content type: it is not signed.
  for (const header of Object.keys(seed.request.headers).filter((name) => name !== "content-type")) {
    for (const token of HEADER_TOKENS) {
      const make = (size: number): PlainRequest => withHeader(seed.request, header, token, size);
      if (!isLinear(explaining, make, HEADER_SIZE))
        found.push(`${seed.scheme}: ${header} of ${JSON.stringify(token)}`);
    }
  }
  for (const [name, text] of BODY_SHAPES) {
    const make = (size: number): PlainRequest => ({ ...seed.request, body: Buffer.from(text(size)) });
    if (!isLinear(explaining, make, EXPLAINED_BODY_SIZE))
      found.push(`${seed.scheme}: explaining a body with ${name}`);
    if (!isLinear(seed, make, BODY_SIZE)) found.push(`${seed.scheme}: a body with ${name}`);
  }
  return found;
}

function withHeader(request: PlainRequest, header: string, token: string, size: number): PlainRequest {
  return { ...request, headers: { ...request.headers, [header]: token.repeat(size / token.length) } };
}

/** Tries again before it complains: only a time that is always out of proportion counts. */
export function isLinear(seed: Seed, make: (size: number) => PlainRequest, size: number): boolean {
  const small = make(size);
  const large = make(size * 4);
  // Code that runs for the first time is slow, and would make the small one look expensive.
  for (const request of [small, large, small]) judge(seed, request);
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const base = Math.max(fastest(seed, small), MEASURABLE_MS);
    if (fastest(seed, large) <= base * QUADRUPLED_AT_MOST) return true;
  }
  return false;
}

function fastest(seed: Seed, request: PlainRequest): number {
  let best = Infinity;
  for (let run = 0; run < 3; run++) {
    const startedAt = performance.now();
    judge(seed, request);
    best = Math.min(best, performance.now() - startedAt);
  }
  return best;
}

/** Everything that a request can make us do: read, verify, explain, name its events. */
function judge(seed: Seed, request: PlainRequest): void {
  try {
    verifySync(seed.verifier, request);
  } catch (error) {
    if (!isPosthornError(error)) throw error;
  }
  if (seed.verified !== undefined) readEvents({ ...seed.verified, request });
}
