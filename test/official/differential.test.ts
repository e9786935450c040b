import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { NOW_S } from "./changes.js";
import { compare } from "./subject.js";
import { SUBJECTS } from "./subjects/all.js";

// SendGrid's library needs 9 ms for each, so fewer are run unless this asks for more.
const ASKED = process.env["DIFFERENTIAL_CASES"];
const SEED = 20_261_115;

beforeAll(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW_S * 1000 });
});
afterAll(() => {
  vi.useRealTimers();
});

describe.each(SUBJECTS)("$library", (subject) => {
  it("judges as we do, but for the differences that have a name", { timeout: 120_000 }, async () => {
    const cases = ASKED === undefined ? (subject.cases ?? 10_000) : Number(ASKED);
    const tally = await compare(subject, cases, SEED);
    expect(tally.disagreements.join("\n")).toBe("");
    // Cases that are all refused would agree on nothing.
    expect(tally.accepted).toBeGreaterThan(cases / 10);
    // A difference that is never met is out of date.
    const unmet = subject.differences.filter(({ name }) => !tally.differences.has(name));
    expect(unmet.map(({ name }) => name)).toEqual([]);
  });
});
