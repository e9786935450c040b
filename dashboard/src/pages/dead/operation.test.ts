import { expect, it } from "vitest";
import { operationTitle, tallyOf } from "./operation.ts";

it("what had changed before its turn is not counted as done", () => {
  expect(tallyOf({ results: { in_place: 3, at_end: 2, before: 1, unknown: 4, pending: 7 } })).toEqual({
    good: 5,
    other: 5,
  });
});

it("an operation is named by its verb, its number and where it goes", () => {
  const plan = { count: 1204, endpoints: [{ id: "ep_shop", count: 1204, state: "active" }] } as never;
  expect(operationTitle({ verb: "redrive", plan })).toBe("Redrive 1,204 to ep_shop");
});
