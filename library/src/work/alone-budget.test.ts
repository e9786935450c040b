import { expect, it } from "vitest";
import { aloneAgainAt } from "./alone-budget.js";

it("running alone takes at most a tenth of the time", () => {
  const [startedAt, endedAt] = [1000, 16_000];
  const againAt = aloneAgainAt(startedAt, endedAt);
  expect((endedAt - startedAt) / (againAt - startedAt)).toBeCloseTo(0.1);
});
