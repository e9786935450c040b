import { describe, expect, it } from "vitest";
import { ClaimTurns, divide, fairAsk, generousAsk, SlotKeeping } from "./fair-share.js";
import type { Holding } from "./fair-share.js";

/** What is held by endpoints of which those named `q…` are quick. */
function holdingOf(held: Readonly<Record<string, number>>, slots = 128): Holding {
  const inFlight = new Map(Object.entries(held));
  return { slots, inFlight, isQuick: (id) => id.startsWith("q"), quick: () => ["q1", "q2", "q3"] };
}

describe("the slots", () => {
  it("are divided into sixteenths, a kept quarter, and a half to lend", () => {
    expect(divide(128)).toEqual({ share: 8, calm: 96, lent: 64 });
    expect(divide(16)).toEqual({ share: 1, calm: 12, lent: 8 });
  });

  it.each([1, 2, 3, 4, 5])("leave one for everybody where there are %i", (slots) => {
    const { share, calm, lent } = divide(slots);
    expect(share).toBe(1);
    expect(Math.min(calm, lent)).toBeGreaterThanOrEqual(1);
  });
});

describe("a claim", () => {
  it("gives a sixteenth to each that is not known to be quick, and leaves a quarter free", () => {
    const ask = fairAsk(holdingOf({}));
    expect(ask).toEqual({ limit: 96, shares: { of: new Map(), others: 8 } });
  });

  it("gives a quick one all that it can use", () => {
    const ask = fairAsk(holdingOf({ q1: 40, slow: 8 }));
    expect(ask?.limit).toBe(80);
    expect(ask?.shares.of.get("q1")).toBeGreaterThan(128);
    expect(ask?.shares.of.has("slow")).toBe(false);
  });

  it("is for the quick ones alone where the others hold three quarters", () => {
    const ask = fairAsk(holdingOf({ a: 64, b: 32 }));
    expect(ask?.limit).toBe(32);
    expect(ask?.shares.others).toBe(0);
    expect([...(ask?.shares.of.keys() ?? [])]).toEqual(["q1", "q2", "q3"]);
  });

  it("takes the one slot that is free, and none where there is none", () => {
    expect(fairAsk(holdingOf({ q1: 64, q2: 63 }))?.limit).toBe(1);
    expect(fairAsk(holdingOf({ q1: 64, q2: 64 }))).toBeUndefined();
  });
});

describe("the claim after one that found too little", () => {
  const fair = { limit: 96, shares: { of: new Map<string, number>(), others: 8 } };

  it("lends slots to those that have used up their share, up to half of all", () => {
    const ask = generousAsk(holdingOf({ a: 8, b: 3 }), fair);
    expect(ask?.limit).toBe(64 - 11);
    expect([...(ask?.shares.of.keys() ?? [])]).toEqual(["a"]);
    expect(ask?.shares.others).toBe(8);
  });

  it("is not made where nobody could use more, or nothing is left to lend", () => {
    expect(generousAsk(holdingOf({ a: 7 }), fair)).toBeUndefined();
    expect(generousAsk(holdingOf({ a: 64 }), fair)).toBeUndefined();
    expect(generousAsk(holdingOf({ a: 40, b: 24 }), fair)).toBeUndefined();
  });

  it("gives more to one that has become quick, and keeps lent slots apart from it", () => {
    const ask = generousAsk(holdingOf({ q1: 8, a: 64 }), fair);
    expect(ask?.limit).toBe(32);
    expect([...(ask?.shares.of.keys() ?? [])]).toEqual(["q1"]);
  });
});

function keeps(
  held: Readonly<Record<string, number>>,
  consumers: readonly string[],
  waiting = true,
): readonly boolean[] {
  return new SlotKeeping().decide(consumers, holdingOf(held), { waiting, news: false });
}

describe("a slot whose delivery has ended", () => {
  it("is kept for the lane's next delivery while nobody waits", () => {
    expect(keeps({ a: 64, q1: 64 }, ["a", "q1"], false)).toEqual([true, true]);
  });

  it("is given up by one that is above its share while others wait, down to its share", () => {
    expect(keeps({ a: 10 }, ["a", "a", "a", "a"])).toEqual([false, false, true, true]);
  });

  it("is kept by a quick one while slots are free", () => {
    expect(keeps({ q1: 64, q2: 63 }, Array<string>(20).fill("q1"))).not.toContain(false);
  });

  it("is given up by one result in eight, whosever it is, while none is free", () => {
    const kept = keeps({ q1: 64, q2: 64 }, Array<string>(24).fill("q1"));
    expect(kept.filter((each) => !each)).toHaveLength(3);
  });

  it("is given up by the first result after news, and by one in eight of the others, while none is free", () => {
    const others = { waiting: true, news: true };
    const results = Array<string>(8).fill("q1");
    const full = new SlotKeeping().decide(results, holdingOf({ q1: 64, q2: 64 }), others);
    expect(full).toEqual([false, true, true, true, true, true, true, false]);
    const free = new SlotKeeping().decide(results, holdingOf({ q1: 64, q2: 63 }), others);
    expect(free).not.toContain(false);
  });

  it("is given up by one in eight of those within their share, while they hold three quarters", () => {
    const held = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`slow${n}`, 8]));
    const kept = keeps(
      held,
      Object.keys(held).flatMap((name) => [name, name]),
    );
    expect(kept.filter((each) => !each)).toHaveLength(3);
    const fewer = keeps({ ...held, slow1: 7 }, [
      "slow1",
      "slow2",
      "slow3",
      "slow4",
      "slow5",
      "slow6",
      "slow7",
      "slow8",
    ]);
    expect(fewer).not.toContain(false);
  });
});

describe("a claim while more is due than there are slots", () => {
  it("is brief eight times, and then for everybody, while brief lanes wait", () => {
    const turns = new ClaimTurns(200);
    turns.isBrief(true, 0);
    const brief = Array.from({ length: 18 }, () => {
      const is = turns.isBrief(true, 0);
      if (is) turns.wasBrief(true);
      return is;
    });
    const eight = Array<boolean>(8).fill(true);
    expect(brief).toEqual([...eight, false, ...eight, false]);
  });

  it("is for everybody after a brief one that found less than it asked for, until it is time to poll", () => {
    const turns = new ClaimTurns(200);
    expect(turns.isBrief(true, 0)).toBe(false);
    expect(turns.isBrief(true, 0)).toBe(true);
    turns.wasBrief(false);
    expect([turns.isBrief(true, 0), turns.isBrief(true, 1), turns.isBrief(true, 199)]).toEqual([
      false,
      false,
      false,
    ]);
    expect(turns.isBrief(true, 200)).toBe(true);
  });

  it("is brief again at once when something was sequenced, also while the last one was under way", () => {
    const turns = new ClaimTurns(200);
    turns.isBrief(true, 0);
    expect(turns.isBrief(true, 0)).toBe(true);
    turns.news();
    turns.wasBrief(false);
    expect(turns.isBrief(true, 0)).toBe(false);
    expect(turns.isBrief(true, 0)).toBe(true);
  });

  it("is never brief where nothing had to wait", () => {
    const turns = new ClaimTurns(200);
    expect([0, 1, 2].map((now) => turns.isBrief(false, now))).toEqual([false, false, false]);
  });
});
