import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { NOW_S } from "./changes.js";
import { compare } from "./subject.js";
import { SUBJECTS } from "./subjects/all.js";

const CASES = 10_000;
const SEED = 20_261_115;

beforeAll(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW_S * 1000 });
});
afterAll(() => {
  vi.useRealTimers();
});

describe.each(SUBJECTS)("$library", (subject) => {
  it("judges as we do, but for the differences that have a name", { timeout: 120_000 }, async () => {
    const tally = await compare(subject, CASES, SEED);
    expect(tally.disagreements.join("\n")).toBe("");
    // Cases that are all refused would agree on nothing.
    expect(tally.accepted).toBeGreaterThan(CASES / 10);
    // A difference that is never met is out of date.
    const unmet = subject.differences.filter(({ name }) => !tally.differences.has(name));
    expect(unmet.map(({ name }) => name)).toEqual([]);
  });
});
