import { describe, expect, it } from "vitest";
import type { AppliedRow, StepRow, StreamRows } from "./database.js";
import { putInOrder } from "./order.js";
import type { StreamSource } from "./stream.js";
import { CONSUMERS, judgeRows, KEPT, nameOfEffect } from "./verdict.js";

// A judge that has never found anything may be blind.
const versions = [2, 1, 4];
const { dead: _, ...kept } = KEPT;

const rowOf = (consumer: string, place: number, more: Partial<AppliedRow> = {}): AppliedRow => ({
  consumer,
  key: "k",
  place,
  version: versions[place] ?? 0,
  late: 0,
  effect: null,
  ...more,
});

/** Holds what handlers have written against a stream of one key. */
function judge(
  source: StreamSource,
  rows: Partial<StreamRows>,
  { rounds = {}, cutOff = 0 }: { rounds?: Record<string, number>; cutOff?: number } = {},
) {
  const stream = [versions.map((version, place) => ({ source, key: "k", place, version }))];
  const newest = CONSUMERS[source].map((consumer) => ({ consumer, key: "k", version: 4 }));
  const past = { stream, rounds: new Map(Object.entries(rounds)), cutOff };
  return judgeRows(past, { applied: [], newest, steps: [], ...rows });
}

describe("the verdict on a stream that was stored first", () => {
  const right = [0, 1, 2].flatMap((place) => [rowOf("single", place), rowOf("many", place)]);

  it("finds nothing where each consumer has applied each event once, in order", () => {
    expect(judge("shop", { applied: right })).toEqual(kept);
  });

  it("finds what one consumer has not applied", () => {
    expect(judge("shop", { applied: right.slice(0, -1) })).toEqual({ ...kept, lost: 1 });
  });

  it("finds what was applied twice", () => {
    expect(judge("shop", { applied: [...right, rowOf("many", 2)] })).toEqual({ ...kept, doubled: 1 });
  });

  it("finds what was applied behind one that was stored later", () => {
    const [first, second, ...others] = right.filter(({ consumer }) => consumer === "single");
    const swapped = [second, first, ...others].filter((row) => row !== undefined);
    const many = right.filter(({ consumer }) => consumer === "many");
    expect(judge("shop", { applied: [...swapped, ...many] })).toEqual({ ...kept, outOfOrder: 1 });
  });

  it("finds a state that is not that of the ordered stream, and what nobody has sent", () => {
    const older = ["single", "many"].map((consumer) => ({ consumer, key: "k", version: 2 }));
    expect(judge("shop", { applied: right, newest: older })).toEqual({ ...kept, otherState: 2 });
    const unknown = rowOf("many", 0, { key: "x" });
    expect(judge("shop", { applied: [...right, unknown] })).toEqual({ ...kept, unknown: 1 });
  });

  it("finds a replay that was not applied, was applied twice, and one that nobody has asked for", () => {
    const rounds = { [nameOfEffect("single", { key: "k", place: 1 })]: 1 };
    const again = rowOf("single", 1);
    expect(judge("shop", { applied: [...right, again] }, { rounds })).toEqual(kept);
    expect(judge("shop", { applied: right }, { rounds })).toEqual({ ...kept, lost: 1 });
    expect(judge("shop", { applied: [...right, again, again] }, { rounds })).toEqual({ ...kept, doubled: 1 });
    expect(judge("shop", { applied: [...right, again] })).toEqual({ ...kept, doubled: 1 });
  });
});

describe("the verdict on a stream that is held back", () => {
  it("finds nothing where versions come in order, and one that was passed is told to be late", () => {
    const held = [1, 0, 2].map((place) => rowOf("held", place));
    expect(judge("held", { applied: held })).toEqual(kept);
    const late = [rowOf("held", 0), rowOf("held", 1, { late: 1 }), rowOf("held", 2)];
    expect(judge("held", { applied: late })).toEqual(kept);
  });

  it("finds what comes behind a newer one without being told to be late", () => {
    const passed = [0, 1, 2].map((place) => rowOf("held", place));
    expect(judge("held", { applied: passed })).toEqual({ ...kept, outOfOrder: 1 });
  });

  it("finds what is told to be late though it came in time", () => {
    const early = [1, 0].map((place) => rowOf("held", place));
    const applied = [...early, rowOf("held", 2, { late: 1 })];
    expect(judge("held", { applied })).toEqual({ ...kept, wronglyLate: 1 });
    // A newer one has passed it, and was stored after it.
    const overtaken = [rowOf("held", 1), rowOf("held", 2), rowOf("held", 0, { late: 1 })];
    expect(judge("held", { applied: overtaken })).toEqual({ ...kept, wronglyLate: 1 });
  });

  it("counts what was put in order, so that a hold that holds nothing is found", () => {
    const stream = [
      versions.map((version, place) => ({ source: "held" as const, key: "k", place, version })),
    ];
    const held = [1, 0, 2].map((place) => rowOf("held", place));
    const passed = [rowOf("held", 0), rowOf("held", 1, { late: 1 }), rowOf("held", 2)];
    expect([putInOrder(stream, held), putInOrder(stream, passed)]).toEqual([1, 0]);
  });
});

const replayOf = (place: number) => ({ rounds: { [nameOfEffect("latest", { key: "k", place })]: 1 } });

describe("the verdict on a stream of which the stale is dropped", () => {
  const newer = [rowOf("latest", 0), rowOf("latest", 2)];

  it("finds nothing where each event was applied that is newer than all before it, and no other", () => {
    expect(judge("latest", { applied: newer })).toEqual(kept);
  });

  it("finds an older version that was applied after a newer one", () => {
    const applied = [rowOf("latest", 0), rowOf("latest", 1), rowOf("latest", 2)];
    expect(judge("latest", { applied })).toEqual({ ...kept, stale: 1 });
  });

  it("finds a newer version that was dropped, and one that was applied twice", () => {
    expect(judge("latest", { applied: newer.slice(1) })).toEqual({ ...kept, lost: 1 });
    expect(judge("latest", { applied: [...newer, rowOf("latest", 2)] })).toEqual({ ...kept, doubled: 1 });
  });

  it("finds a replay of the newest that was dropped, and one of an older event that was applied after it", () => {
    expect(judge("latest", { applied: [...newer, rowOf("latest", 2)] }, replayOf(2))).toEqual(kept);
    expect(judge("latest", { applied: newer }, replayOf(2))).toEqual({ ...kept, lost: 1 });
    expect(judge("latest", { applied: newer }, replayOf(0))).toEqual(kept);
    const early = [rowOf("latest", 0), ...newer];
    expect(judge("latest", { applied: early }, replayOf(0))).toEqual(kept);
    expect(judge("latest", { applied: [...newer, rowOf("latest", 0)] }, replayOf(0))).toEqual({
      ...kept,
      stale: 1,
    });
  });
});

function stepsOf(place: number, round = 1): readonly StepRow[] {
  return ["charge", "mail"].map((step) => ({
    key: "k",
    place,
    step,
    idem: `${step}-${place}-${round}`,
    effect: `${step}-${place}-${round}-done`,
  }));
}

function markOf(place: number, round = 1) {
  return rowOf("jobs", place, { effect: `charge-${place}-${round}-done` });
}

describe("the verdict on long handlers and their steps", () => {
  const applied = [0, 1, 2].map((place) => markOf(place));
  const steps = [0, 1, 2].flatMap((place) => stepsOf(place));

  it("finds nothing where each step has had its effect once, and the event was marked with it", () => {
    expect(judge("jobs", { applied, steps })).toEqual(kept);
  });

  it("finds an effect that a step which looks for it has had twice", () => {
    const [charge] = stepsOf(1);
    const twice = [...steps, { ...charge, effect: "another" } as StepRow];
    expect(judge("jobs", { applied, steps: twice })).toEqual({ ...kept, stepsDoubled: 1 });
    expect(judge("jobs", { applied, steps: twice }, { cutOff: 4 })).toEqual({ ...kept, stepsDoubled: 1 });
  });

  it("finds a step that has another idempotency key each time", () => {
    const [, mail] = stepsOf(1);
    const other = [...steps, { ...mail, idem: "another" } as StepRow];
    expect(judge("jobs", { applied, steps: other })).toEqual({ ...kept, stepsDoubled: 1 });
  });

  it("finds a step that was done again though nobody was killed, and takes it for granted where somebody was", () => {
    const [, mail] = stepsOf(1);
    const again = [...steps, { ...mail, effect: "another" } as StepRow];
    expect(judge("jobs", { applied, steps: again })).toEqual({ ...kept, stepsAgain: 1 });
    expect(judge("jobs", { applied, steps: again }, { cutOff: 1 })).toEqual(kept);
  });

  it("finds an event that was marked without the effect of its step, or with that of another round", () => {
    const without = steps.filter(({ place, step }) => place !== 1 || step !== "charge");
    expect(judge("jobs", { applied, steps: without })).toEqual({ ...kept, stepsLost: 1 });
    const rounds = { [nameOfEffect("jobs", { key: "k", place: 1 })]: 1 };
    const both = { steps: [...steps, ...stepsOf(1, 2)] };
    expect(judge("jobs", { ...both, applied: [...applied, markOf(1, 2)] }, { rounds })).toEqual(kept);
    expect(judge("jobs", { steps, applied: [...applied, markOf(1)] }, { rounds })).toEqual({
      ...kept,
      stepsLost: 1,
    });
  });
});
