import { expect, it } from "vitest";
import { added, KEPT } from "./tail-rows.ts";
import type { TailRow } from "./tail-rows.ts";

const row = (n: number): TailRow => ({ kind: "gap", lost: null, n });

it("the newest stands first, and the oldest are let go", () => {
  expect(added([row(1)], [row(2), row(3)]).map(({ n }) => n)).toEqual([3, 2, 1]);
  const many = Array.from({ length: KEPT }, (_, n) => row(n));
  expect(added(many, [row(9999)])).toHaveLength(KEPT);
});
