import type { DeadGroup } from "posthorn/client";
import { expect, it } from "vitest";
import { groupFits, groupReason, queryOfGroup } from "./dead-filter.ts";

const GROUP: DeadGroup = {
  id: "ep_shop.exhausted.none.timeout",
  tenant: "default",
  endpointId: "ep_shop",
  because: "exhausted",
  status: null,
  error: "timeout",
  count: 84,
  firstAt: "",
  lastAt: "",
  note: null,
};

it("the query of a group names all of its parts, those that it lacks too", () => {
  expect(queryOfGroup(GROUP, { since: "24h" })).toEqual({
    since: "24h",
    endpoint: "ep_shop",
    because: "exhausted",
    status: "none",
    error: "timeout",
  });
});

it("a group is named by the answer, or by the lack of one", () => {
  expect(groupReason({ ...GROUP, status: 500 })).toBe("answered 500");
  expect(groupReason(GROUP)).toBe("no answer came in time");
});

it("a filter lets its own groups through", () => {
  expect(groupFits(GROUP, { endpoint: "ep_shop", status: "none" })).toBe(true);
  expect(groupFits(GROUP, { status: "500" })).toBe(false);
  expect(groupFits(GROUP, {})).toBe(true);
});
