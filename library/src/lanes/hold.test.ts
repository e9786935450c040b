import { describe, expect, it } from "vitest";
import type { HoldMark } from "../hold-mark.js";
import { MOST_FILLED, planHold, turnOf } from "./hold.js";
import type { Filled, HeldEvent, Progress } from "./hold.js";

function mark(sequence: bigint, given: Partial<HoldMark> = {}): HoldMark {
  return { generation: 1n, sequence, after: sequence - 1n, maxEvents: 3, maxMs: 1000, ...given };
}

const at = (last: bigint, generation = 1n): Progress => ({ generation, last });
const held = (sequence: bigint, isDue = false, given: Partial<HoldMark> = {}): HeldEvent => ({
  mark: mark(sequence, given),
  isDue,
});
const filled = (sequence: bigint, after: bigint | undefined = sequence - 1n, generation = 1n): Filled => ({
  generation,
  sequence,
  after,
});
const keyWith = (given: readonly HeldEvent[], ...places: readonly Filled[]) => ({
  progress: at(1n),
  held: given,
  filled: places,
});
const numbers = (
  items: readonly { readonly mark?: HoldMark | undefined }[],
): readonly (bigint | undefined)[] => items.map((each) => each.mark?.sequence);

describe("the turn of an event", () => {
  it("has come when it is the first of its key, whatever its sequence", () => {
    expect(turnOf(undefined, mark(7n))).toEqual({ kind: "free", progress: at(7n) });
  });

  it("waits for the first of its key, where its mark says which that is", () => {
    expect(turnOf(undefined, mark(1n, { first: 1n }))).toEqual({ kind: "free", progress: at(1n) });
    expect(turnOf(undefined, mark(2n, { first: 1n }))).toEqual({ kind: "held" });
    expect(turnOf(undefined, mark(2n, { first: 1n }), [filled(1n)]).kind).toBe("free");
    expect(turnOf(at(7n), mark(8n, { first: 1n })).kind).toBe("free");
    const gap = { from: 1n, to: 6n, because: "time" } as const;
    expect(turnOf(undefined, mark(7n, { first: 1n, gap }))).toEqual({ kind: "free", progress: at(7n) });
  });

  it("comes after the one before it", () => {
    expect(turnOf(at(7n), mark(8n))).toEqual({ kind: "free", progress: at(8n) });
    expect(turnOf(at(7n), mark(9n))).toEqual({ kind: "held" });
  });

  it("comes after the last that its sender did not skip, and at once where its sender starts with it", () => {
    expect(turnOf(at(7n), mark(11n, { after: 7n })).kind).toBe("free");
    expect(turnOf(at(7n), mark(11n, { after: 8n })).kind).toBe("held");
    expect(turnOf(at(7n), mark(11n, { after: undefined })).kind).toBe("free");
  });

  it("has passed where a later one went before it", () => {
    expect(turnOf(at(7n), mark(7n))).toEqual({ kind: "late" });
    expect(turnOf(at(7n), mark(3n))).toEqual({ kind: "late" });
  });

  it("starts anew with a higher generation, after which the one before is late", () => {
    expect(turnOf(at(7n), mark(2n, { generation: 2n }))).toEqual({ kind: "free", progress: at(2n, 2n) });
    expect(turnOf(at(2n, 2n), mark(8n))).toEqual({ kind: "late" });
  });

  it("waits for nothing that was given up before it", () => {
    const gap = { from: 8n, to: 9n, because: "time" } as const;
    expect(turnOf(at(7n), mark(10n, { gap })).kind).toBe("free");
  });
});

describe("a place whose event was answered and is not stored", () => {
  it("is not waited for", () => {
    expect(turnOf(at(1n), mark(4n), [filled(3n), filled(2n)])).toEqual({ kind: "free", progress: at(4n) });
    expect(turnOf(at(1n), mark(4n), [filled(3n)]).kind).toBe("held");
    expect(turnOf(at(1n), mark(3n), [filled(2n, 1n, 2n)]).kind).toBe("held");
  });

  it("lets go what is held behind it, and is kept until that has gone", () => {
    const plan = planHold(keyWith([held(4n), held(6n)], filled(2n), filled(3n), filled(5n)), []);
    expect(plan.freed.map(({ held: each, gap }) => [each.mark?.sequence, gap])).toEqual([
      [4n, undefined],
      [6n, undefined],
    ]);
    expect([plan.progress, plan.passed]).toEqual([at(1n), []]);
    const gone = planHold({ ...keyWith([], filled(2n), filled(3n), filled(5n)), progress: at(1n) }, [
      { mark: mark(4n) },
    ]);
    expect([gone.progress, gone.passed]).toEqual([at(4n), [filled(2n), filled(3n)]]);
  });

  it("is no part of what is given up, where that ends before it or begins after it", () => {
    const before = planHold(keyWith([held(4n, true)], filled(3n)), []);
    expect(before.freed.map(({ gap }) => gap)).toEqual([{ from: 2n, to: 2n, because: "time" }]);
    const after = planHold(keyWith([held(4n, true)], filled(2n)), []);
    expect(after.freed.map(({ gap }) => gap)).toEqual([{ from: 3n, to: 3n, because: "time" }]);
    const around = planHold(keyWith([held(5n, true)], filled(3n)), []);
    expect(around.freed.map(({ gap }) => gap)).toEqual([{ from: 2n, to: 4n, because: "time" }]);
  });

  it("lets nobody pass the event that is held there, or comes at the same time: another delivery of it has filled the place", () => {
    const arrivals = [{ mark: mark(2n) }, { mark: mark(4n) }];
    const plan = planHold(keyWith([held(3n)], filled(3n)), arrivals);
    expect([numbers(plan.going.map(({ arrived }) => arrived)), plan.progress]).toEqual([[2n], at(2n)]);
    expect(numbers(plan.freed.map(({ held: each }) => each))).toEqual([3n]);
    expect(numbers(plan.again.map(({ held: each }) => each))).toEqual([4n]);
    const together = planHold(keyWith([], filled(3n)), [{ mark: mark(3n) }, ...arrivals]);
    expect(together.going.map(({ arrived, isLate }) => [arrived.mark.sequence, isLate])).toEqual([
      [2n, false],
      [3n, false],
      [4n, false],
    ]);
  });

  it("starts no sequence, and lets nobody pass: what is stored and has no places yet comes before it", () => {
    expect(planHold({ progress: undefined, held: [], filled: [filled(3n)] }, []).progress).toBeUndefined();
    expect(planHold(keyWith([], filled(3n, 1n)), []).progress).toEqual(at(1n));
  });

  it("is forgotten where too many are kept, the lowest first", () => {
    const many = Array.from({ length: MOST_FILLED + 2 }, (_, n) => filled(BigInt(n) + 3n));
    expect(planHold(keyWith([], ...many), []).passed).toEqual(many.slice(0, 2));
  });
});

describe("what becomes of the events of a key", () => {
  it("that come together: they go in the order of their sequences", () => {
    const plan = planHold(
      { progress: at(1n), held: [], filled: [] },
      [4n, 2n, 3n].map((n) => ({ mark: mark(n) })),
    );
    expect(numbers(plan.going.map(({ arrived }) => arrived))).toEqual([2n, 3n, 4n]);
    expect(plan.progress).toEqual(at(4n));
  });

  it("when a gap closes: those behind it are free, up to the next gap", () => {
    const known = { progress: at(1n), held: [held(6n), held(4n), held(3n)], filled: [] };
    const plan = planHold(known, [{ mark: mark(2n) }]);
    expect(numbers(plan.going.map(({ arrived }) => arrived))).toEqual([2n]);
    expect(plan.freed.map(({ held: each, gap }) => [each.mark?.sequence, gap])).toEqual([
      [3n, undefined],
      [4n, undefined],
    ]);
  });

  it("when one has waited for its time: every gap up to it is given up", () => {
    const known = { progress: at(1n), held: [held(3n), held(6n, true), held(9n)], filled: [] };
    const { freed } = planHold(known, []);
    expect(freed.map(({ held: each, gap }) => [each.mark?.sequence, gap])).toEqual([
      [3n, { from: 2n, to: 2n, because: "time" }],
      [6n, { from: 4n, to: 5n, because: "time" }],
    ]);
  });

  it("of which nothing is known: they wait for the first, and what is given up begins there", () => {
    const first = { first: 1n };
    const known = { progress: undefined, held: [held(2n, false, first), held(4n, true, first)], filled: [] };
    expect(planHold(known, []).freed.map(({ held: each, gap }) => [each.mark?.sequence, gap])).toEqual([
      [2n, { from: 1n, to: 1n, because: "time" }],
      [4n, { from: 3n, to: 3n, because: "time" }],
    ]);
    const plan = planHold({ ...known, held: [held(3n, false, first)] }, [
      { mark: mark(2n, first) },
      { mark: mark(1n, first) },
    ]);
    expect(numbers(plan.going.map(({ arrived }) => arrived))).toEqual([1n, 2n]);
    expect(numbers(plan.freed.map(({ held: each }) => each))).toEqual([3n]);
  });

  it("when more are held than may be: the first gap is given up", () => {
    const known = { progress: at(1n), held: [held(3n), held(4n), held(6n)], filled: [] };
    const plan = planHold(known, [{ mark: mark(8n) }]);
    expect(plan.freed.map(({ held: each, gap }) => [each.mark?.sequence, gap])).toEqual([
      [3n, { from: 2n, to: 2n, because: "number" }],
      [4n, undefined],
    ]);
    expect(numbers(plan.holding)).toEqual([8n]);
  });

  it("when its sequence starts anew: what is held goes first, and its gaps are given up", () => {
    const known = { progress: at(1n), held: [held(3n)], filled: [] };
    const plan = planHold(known, [{ mark: mark(1n, { generation: 2n }) }]);
    expect(plan.going).toEqual([]);
    expect(plan.freed.map(({ gap }) => gap)).toEqual([{ from: 2n, to: 2n, because: "restart" }]);
    expect(plan.again.map(({ held: each, gap }) => [each.mark.generation, gap])).toEqual([[2n, undefined]]);
  });

  it("when what is held is of the generation that starts: its first event does not wait for it", () => {
    const known = { progress: at(3n), held: [held(105n, false, { generation: 2n })], filled: [] };
    const plan = planHold(known, [{ mark: mark(101n, { generation: 2n, after: undefined }) }]);
    expect(numbers(plan.going.map(({ arrived }) => arrived))).toEqual([101n]);
    expect([plan.freed, plan.again]).toEqual([[], []]);
  });

  it("of which one is gone: the others do not wait for what cannot come", () => {
    const gone: HeldEvent = { mark: undefined, isDue: false };
    const { freed } = planHold({ progress: at(1n), held: [gone, held(4n)], filled: [] }, []);
    expect(freed).toEqual([{ held: gone, gap: undefined }]);
  });

  it("ends for every order of arrival and every loss: each goes once, in order, or late", () => {
    for (let seed = 1; seed <= 300; seed++) {
      const { went, late } = playOut(seed);
      expect(went.toSorted((a, b) => a - b)).toEqual(went);
      expect(new Set([...went, ...late]).size).toBe(went.length + late.length);
    }
  });
});

/** Twenty events in a shuffled order, of which some never come, and time that ends each wait: nothing is left over. */
function playOut(seed: number): { readonly went: number[]; readonly late: number[] } {
  let state = seed;
  const random = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  const coming = Array.from({ length: 20 }, (_, n) => n + 1).filter(() => random(5) > 0);
  for (let n = coming.length - 1; n > 0; n--) {
    const other = random(n + 1);
    [coming[n], coming[other]] = [coming[other] ?? 0, coming[n] ?? 0];
  }
  const [went, late]: [number[], number[]] = [[], []];
  let progress: Progress | undefined;
  let waiting: HeldEvent[] = [];
  let arrivals: { mark: HoldMark }[] = [];
  while (coming.length + arrivals.length + waiting.length > 0) {
    const next = arrivals.length === 0 ? coming.pop() : undefined;
    if (next !== undefined) arrivals.push({ mark: mark(BigInt(next), seed % 2 === 0 ? { first: 1n } : {}) });
    if (next === undefined && arrivals.length === 0)
      waiting = waiting.map((each) => ({ ...each, isDue: true }));
    const plan = planHold({ progress, held: waiting, filled: [] }, arrivals);
    progress = plan.progress;
    for (const { arrived, isLate } of plan.going) (isLate ? late : went).push(Number(arrived.mark.sequence));
    waiting = waiting.filter((each) => !plan.freed.some(({ held: freed }) => freed === each));
    waiting.push(...plan.holding.map((each) => ({ mark: each.mark, isDue: false })));
    arrivals = [...plan.freed, ...plan.again].flatMap(({ held: each, gap }) =>
      each.mark === undefined ? [] : [{ mark: { ...each.mark, gap: gap ?? each.mark.gap } }],
    );
  }
  return { went, late };
}
