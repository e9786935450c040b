import { expect } from "vitest";
import type { Subject } from "./subject.js";
import { compare } from "./subject.js";

// SendGrid's library needs 9 ms for each, so fewer are run unless this asks for more.
const ASKED = process.env["DIFFERENTIAL_CASES"];
const SEED = 20_261_115;

/** Fails where the library judges otherwise in a way that has no name. */
export async function expectAgreement(subject: Subject): Promise<void> {
  const cases = ASKED === undefined ? (subject.cases ?? 10_000) : Number(ASKED);
  const tally = await compare(subject, cases, SEED);
  expect(tally.disagreements.join("\n")).toBe("");
  // Cases that are all refused would agree on nothing.
  expect(tally.accepted).toBeGreaterThan(cases / 10);
  // A difference that is never met is out of date.
  const unmet = subject.differences.filter(({ name }) => !tally.differences.has(name));
  expect(unmet.map(({ name }) => name)).toEqual([]);
}
