import { expect, it } from "vitest";
import { actionOf } from "./audit-action.js";

it.each([
  ["POST", "/endpoints", "endpoint.create"],
  ["PATCH", "/endpoints/:id", "endpoint.update"],
  ["DELETE", "/sources/:name", "source.remove"],
  ["POST", "/endpoints/:id/pause", "endpoint.pause"],
  ["POST", "/deliveries/:id/redrive", "delivery.redrive"],
  ["PUT", "/dead/groups/:id/note", "dead_group.note"],
  ["POST", "/anything/:id/some/deed", "anything.some_deed"],
])("a change by %s %s is called %s", (method, route, action) => {
  expect(actionOf(method, route)).toEqual({ action, kind: action.split(".")[0] });
});

it("what only reads, and what is published, is no change", () => {
  expect([actionOf("GET", "/endpoints"), actionOf("HEAD", "/x"), actionOf("POST", "/events")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
