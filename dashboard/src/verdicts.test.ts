import type { DeadLetter, Endpoint, Lane } from "posthorn/client";
import { describe, expect, it } from "vitest";
import { eventLook, verdictOf } from "./verdicts.ts";
import type { Situation } from "./verdicts.ts";

const lane = (state: Lane["state"], depth: string, blockedMs: number | null = null): Lane => ({
  id: "12",
  tenant: "default",
  endpointId: "ep_shop",
  key: "k",
  state,
  depth,
  head: "9",
  headId: "dlv_12_9",
  failures: 3,
  blockedMs,
  dueInMs: null,
});

const situation = (part: Partial<Situation>): Situation => ({
  lanes: [],
  moreLanes: false,
  endpoints: [],
  dead: [],
  ...part,
});

describe("the sentence of the overview", () => {
  it("says that nothing is stuck", () => {
    expect(verdictOf(situation({}))).toMatchObject({ title: "Nothing is stuck.", tone: "landed" });
    expect(verdictOf(situation({ lanes: [lane("flowing", "3")] })).more).toContain("3 deliveries on the way");
  });

  it("names halted lanes first, and what waits behind them", () => {
    const letter = {
      endpointId: "ep_shop",
      blocks: true,
      because: "exhausted",
      lastStatus: 500,
      lastError: null,
    };
    const verdict = verdictOf(
      situation({
        lanes: [
          lane("halted", "42", 7_500_000),
          lane("halted", "9007199254740994", 10),
          lane("retrying", "1"),
        ],
        dead: [letter as DeadLetter],
      }),
    );
    expect(verdict.title).toBe("2 lanes are halted; 9,007,199,254,741,034 events wait behind them.");
    expect(verdict.more).toBe(
      "The oldest has waited for 2 h 5 min. All stopped for the same reason: ep_shop answered 500.",
    );
    const one = verdictOf(situation({ lanes: [lane("halted", "1", 1000)] }));
    expect([one.title, one.act?.path]).toEqual(["1 lane is halted; nothing waits behind it.", "/lanes/12"]);
  });

  it("says at least where there are more than it has seen", () => {
    const verdict = verdictOf(situation({ lanes: [lane("halted", "2", 1)], moreLanes: true }));
    expect(verdict.title).toBe("At least 1 lane is halted; 1 event waits behind it.");
  });

  it("names disabled endpoints, then lanes that retry", () => {
    const disabled = { id: "ep_gone", state: "disabled", because: "it answered 410" } as Endpoint;
    expect(verdictOf(situation({ endpoints: [disabled], lanes: [lane("retrying", "2")] })).title).toContain(
      "ep_gone",
    );
    expect(verdictOf(situation({ lanes: [lane("retrying", "2")] })).title).toBe(
      "Nothing is stuck; 1 lane is retrying.",
    );
  });
});

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
