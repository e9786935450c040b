import { readFileSync } from "node:fs";
import type { CancelledBecause } from "posthorn/memory";
import { expect, it } from "vitest";
import { becauseWords } from "../dashboard/src/words/words.js";

// A reason without a row here does not compile.
const REASONS = Object.keys({
  expired: true,
  skipped: true,
  cancelled: true,
  endpoint_removed: true,
  consumer_removed: true,
  redriven: true,
} satisfies Readonly<Record<CancelledBecause, true>>);

it("each reason why a delivery is cancelled is that of a row of spec/states.md, and the other way round", () => {
  const page = readFileSync(new URL("../spec/states.md", import.meta.url), "utf8");
  const told = new Set([...page.matchAll(/\*\*cancelled\*\* \(`(\w+)`\)/g)].map(([, because]) => because));
  expect(told).toEqual(new Set(REASONS));
});

it("each reason why a delivery is cancelled has words on the dashboard", () => {
  const asItIs = REASONS.filter((because) => becauseWords(because) === because.replaceAll("_", " "));
  expect(asItIs).toEqual([]);
});
