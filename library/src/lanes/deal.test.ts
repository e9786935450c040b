import { describe, expect, it } from "vitest";
import { dealPlaces } from "./deal.js";

interface Event {
  readonly id: string;
  /** How many places it has left. */
  readonly left: number;
}

const event = (id: string, left: number): Event => ({ id, left });

function deal(queues: readonly (readonly Event[])[], budget: number): string[] {
  const dealt = dealPlaces(queues, budget, ({ id, left }, most) => ({
    places: Array.from({ length: Math.min(left, most) }, () => id),
    isDone: left <= most,
  }));
  return dealt.map(
    ({ event: { id }, places, isDone }) => `${id} ${places.length}${isDone ? "" : " and more"}`,
  );
}

describe("dealing places out among tenants", () => {
  it("gives each tenant an equal share, however much one of them has", () => {
    const big = [event("a1", 200_000)];
    const small = [event("b1", 1)];
    expect(deal([big, small], 1000)).toEqual(["a1 500 and more", "b1 1"]);
  });

  it("gives a tenant that is alone everything", () => {
    expect(deal([[event("a1", 300), event("a2", 700), event("a3", 1)]], 1000)).toEqual(["a1 300", "a2 700"]);
  });

  it("begins no event that does not fit, unless it is the first of its turn", () => {
    expect(deal([[event("a1", 1), event("a2", 2000), event("a3", 1)]], 1000)).toEqual(["a1 1"]);
    expect(deal([[event("a2", 2000), event("a3", 1)]], 1000)).toEqual(["a2 1000 and more"]);
  });

  it("lets events without a place pass, each for one place of the share", () => {
    expect(deal([Array.from({ length: 5 }, (_, n) => event(`a${n}`, 0))], 3)).toEqual([
      "a0 0",
      "a1 0",
      "a2 0",
    ]);
  });

  it("gives every tenant something, also where there are more of them than places", () => {
    const queues = ["a", "b", "c"].map((id) => [event(id, 2)]);
    expect(deal(queues, 2)).toEqual(["a 1 and more", "b 1 and more", "c 1 and more"]);
  });
});
