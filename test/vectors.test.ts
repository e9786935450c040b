import { readEvents, verify, verifySync } from "posthorn";
import type { Verified } from "posthorn";
import { PROVIDER_SCHEMES } from "posthorn/providers";
import { describe, expect, it } from "vitest";
import type { Accepted, Vector } from "./vectors/vector.js";
import { printEvent, printStamp, requestOf, vectorFiles, verifierOf } from "./vectors/vector.js";

// Runs in two projects of vitest.config.ts: on node:crypto, and on WebCrypto as every other platform has it.
const onWebCrypto = process.env["POSTHORN_CRYPTO"] === "web";

/** What came of a case, in the words of the vectors. */
function accepted(verified: Verified, expected: Vector["expect"]): Accepted {
  const { stamp } = verified;
  return {
    verdict: "accept",
    key: verified.keyIndex,
    events: readEvents(verified).map(printEvent),
    ...("stamp" in expected ? { stamp: stamp === undefined ? null : printStamp(stamp) } : {}),
  };
}

function rejected(error: unknown): unknown {
  return { verdict: "reject", code: (error as { code?: unknown }).code ?? error };
}

async function verdict(scheme: string, vector: Vector): Promise<unknown> {
  try {
    return accepted(await verify(verifierOf(scheme, vector), requestOf(vector)), vector.expect);
  } catch (error) {
    return rejected(error);
  }
}

function verdictAtOnce(scheme: string, vector: Vector): unknown {
  try {
    return accepted(verifySync(verifierOf(scheme, vector), requestOf(vector)), vector.expect);
  } catch (error) {
    return rejected(error);
  }
}

describe.each(vectorFiles)("$scheme", ({ scheme, cases }) => {
  it.each(cases)("$expect.verdict: $name", async (vector) => {
    expect(await verdict(scheme, vector)).toEqual(vector.expect);
    const unavailable = { verdict: "reject", code: "sync_unavailable" };
    if (!onWebCrypto) expect(verdictAtOnce(scheme, vector)).toEqual(vector.expect);
    else if (vector.expect.verdict === "accept") expect(verdictAtOnce(scheme, vector)).toEqual(unavailable);
    else expect([vector.expect, unavailable]).toContainEqual(verdictAtOnce(scheme, vector));
  });

  it("has cases with names of their own", () => {
    const names = cases.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it("has both verdicts, and a signature that our code did not make, unless the scheme says why not", () => {
    const verdicts = new Set(cases.map(({ expect: { verdict: each } }) => each));
    expect([...verdicts].toSorted()).toEqual(["accept", "reject"]);
    const known = PROVIDER_SCHEMES.find(({ name }) => name === scheme);
    const foreign = cases.filter(
      ({ origin, expect: { verdict: each } }) => each === "accept" && !/^posthorn\b/i.test(origin),
    );
    expect(known?.evidence.kind === "unconfirmed" || foreign.length > 0).toBe(true);
  });
});

it("every provider's scheme has a file of vectors", () => {
  const names = new Set(vectorFiles.map(({ scheme }) => scheme));
  expect(PROVIDER_SCHEMES.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([]);
});
