import { expect, it } from "vitest";
import { arranged } from "./settled.ts";

const idOf = ({ id }: { id: string }): string => id;
const rows = (...ids: string[]) => ids.map((id) => ({ id, at: 1 }));

it("rows under the pointer stay in their place, and new ones are counted", () => {
  const shown = rows("b", "c");
  const next = arranged(shown, rows("a", "b", "c"), idOf);
  expect([next.rows.map(idOf), next.fresh]).toEqual([["b", "c"], 1]);
});

it("rows that changed are shown as they are now, and those that went stay until the pointer leaves", () => {
  const next = arranged(rows("a", "b"), [{ id: "b", at: 2 }], idOf);
  expect(next.rows).toEqual([
    { id: "a", at: 1 },
    { id: "b", at: 2 },
  ]);
});

it("an older page comes at the end", () => {
  expect(arranged(rows("a"), rows("a", "b"), idOf).rows.map(idOf)).toEqual(["a", "b"]);
});

it("an empty list takes what comes", () => {
  expect(arranged([], rows("a"), idOf)).toEqual({ rows: rows("a"), fresh: 0 });
});
