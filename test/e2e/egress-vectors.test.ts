import { describe, expect, it } from "vitest";
import { createAddressGuard } from "../../library/src/delivery/egress/address-guard.js";
import type { Outcome } from "../../library/src/delivery/outcome.js";
import { createEgress } from "../../library/src/delivery/egress/create-egress.js";
import { recordDials, ssrfFiles } from "./ssrf-vectors.js";
import type { Expected, SsrfCase } from "./ssrf-vectors.js";

// Where DNS is not the matter of a case.
const PUBLIC = "93.184.215.14";

function outcomeOf(expected: Expected): Outcome {
  if (expected.verdict === "allow") return { kind: "unreachable", reason: "connect" };
  if (expected.verdict === "unreachable") return { kind: "unreachable", reason: "dns" };
  return { kind: "forbidden", reason: expected.reason } as Outcome;
}

function dialsOf({ url }: SsrfCase, expected: Expected): readonly string[] {
  if (expected.verdict !== "allow") return [];
  if (expected.dials !== undefined) return expected.dials;
  const host = expected.host ?? new URL(url).hostname;
  return [/^[\d.]+$|:/.test(host) ? host : PUBLIC];
}

async function send(vector: SsrfCase): Promise<void> {
  const attempts = vector.attempts ?? [{ answers: [PUBLIC], expect: vector.expect as Expected }];
  const answers = attempts.map((attempt) => attempt.answers);
  const resolve = (): Promise<readonly string[]> => {
    const answer = answers.shift() ?? [];
    return typeof answer === "string"
      ? Promise.reject(Object.assign(new Error(answer), { code: answer }))
      : Promise.resolve(answer);
  };
  const dialled = recordDials();
  const egress = await createEgress({ ...vector.settings, resolve });
  for (const attempt of attempts) {
    const { outcome } = await egress.post({
      url: vector.url,
      headers: {},
      body: new Uint8Array(1),
      deadlineMs: 10_000,
    });
    expect(outcome).toEqual(outcomeOf(attempt.expect));
    expect(dialled.splice(0)).toEqual(dialsOf(vector, attempt.expect));
  }
  await egress.close();
}

describe.each(ssrfFiles)("$file", ({ cases }) => {
  it.each(cases)("$name: nothing but what is allowed is dialled", (vector) => send(vector));

  it("has cases with names of their own", () => {
    const names = cases.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});

const judged = ssrfFiles.flatMap(({ cases }) => cases.filter((each) => each.expect !== undefined));

it.each(judged)("$name: the URL is judged the same when an endpoint is created", (vector) => {
  const guard = createAddressGuard({
    ...vector.settings,
    resolve: () => Promise.reject(new Error("no DNS here")),
  });
  const verdict = guard.judgeUrl(vector.url);
  if (verdict.kind === "allowed") expect({ verdict: "allow", host: verdict.hostname }).toEqual(vector.expect);
  else expect({ verdict: "forbid", reason: verdict.reason }).toEqual(vector.expect);
});

it("there are hundreds of cases", () => {
  expect(ssrfFiles.flatMap(({ cases }) => cases).length).toBeGreaterThan(700);
});
