import type { DeadLetter } from "posthorn/client";
import { expect, it } from "vitest";
import { filtered, groupsOf, planOf } from "./dead-groups.ts";

const letter = (part: Partial<DeadLetter>): DeadLetter => ({
  id: "dlv_1_1",
  laneId: null,
  tenant: "default",
  endpointId: "ep_a",
  key: null,
  sequence: "1",
  eventId: "evt_1",
  type: "t",
  round: 1,
  because: "exhausted",
  diedAt: "2026-11-18T07:00:00Z",
  attempts: 3,
  lastStatus: 500,
  lastError: null,
  blocks: false,
  ...part,
});

const letters = [
  letter({ id: "new", diedAt: "2026-11-18T09:00:00Z", blocks: true }),
  letter({ id: "other", endpointId: "ep_b", lastStatus: null, lastError: "timeout" }),
  letter({ id: "old", diedAt: "2026-11-16T07:00:00Z" }),
];

it("groups are of one endpoint and one reason, the largest first", () => {
  expect(groupsOf(letters)).toEqual([
    { endpointId: "ep_a", reason: "answered 500", count: 2, blocking: 1 },
    { endpointId: "ep_b", reason: "no answer came in time", count: 1, blocking: 0 },
  ]);
});

it("a filter is exact, and nothing filters where nothing is given", () => {
  expect(filtered(letters, {}).length).toBe(3);
  expect(filtered(letters, { endpoint: "ep_a", reason: "answered 500" }).map(({ id }) => id)).toEqual([
    "new",
    "old",
  ]);
  expect(filtered(letters, { type: "x" })).toEqual([]);
});

it("a plan goes from the oldest to the newest, and counts who keeps a place", () => {
  const plan = planOf(letters, Date.parse("2026-11-18T10:00:00Z"));
  expect(plan.letters.map(({ id }) => id)).toEqual(["old", "other", "new"]);
  expect([plan.inPlace, plan.atEnd, plan.old, plan.endpoints]).toEqual([1, 2, 1, ["ep_a", "ep_b"]]);
});
