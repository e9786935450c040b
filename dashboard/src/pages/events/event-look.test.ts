import { describe, expect, it } from "vitest";
import { eventLook } from "./event-look.ts";

const at = (state: "delivered" | "dead" | "retrying" | "waiting" | "cancelled", endpointId = "a") => ({
  state,
  endpointId,
});

describe("an event", () => {
  it.each([
    [[], "no endpoint takes it"],
    [[at("delivered")], "landed"],
    [[at("delivered"), at("delivered", "b")], "landed at all 2"],
    [[at("delivered"), at("dead", "b")], "landed at 1 of 2 endpoints, dead at b"],
    [[at("dead")], "dead"],
    [[at("retrying"), at("dead", "b")], "dead at b"],
    [[at("retrying")], "retrying, landed nowhere yet"],
    [[at("waiting")], "waiting"],
    [[at("cancelled")], "cancelled"],
  ])("at %j: %s", (deliveries, word) => {
    expect(eventLook(deliveries).word).toBe(word);
  });
});
