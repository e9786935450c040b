import { setImmediate as tick } from "node:timers/promises";
import { expect, test } from "vitest";
import { timeLoad } from "./load.js";
import { Progress } from "./progress.js";
import { reportOf } from "./report.js";
import { runSuite } from "./run-suite.js";
import type { Case, Suite, WorkCase } from "./suite.js";
import { timeWork } from "./work.js";

// These run the harness, not a benchmark: they count calls and never judge a time.
const plan = { rounds: 5, turnMs: 1, warmupMs: 1 };

function run(suite: Partial<Suite>, signal = new AbortController().signal) {
  const whole: Suite = {
    plans: { full: plan, quick: plan },
    ratios: [],
    limits: [],
    cases: () => [],
    ...suite,
  };
  return runSuite(whole, { quick: false, signal, progress: new Progress({ write: () => {} }, "test") });
}

function life(log: string[], name: string) {
  return {
    name,
    setup: () => void log.push(`setup ${name}`),
    beforeTurn: () => void log.push(`turn ${name}`),
    teardown: () => void log.push(`teardown ${name}`),
  };
}

test("every case is set up, has a warm-up and one turn a round, and is torn down in reverse", async () => {
  const log: string[] = [];
  const outcome = await run({
    cases: (context) => {
      context.onClose(() => void log.push("close"));
      const one: Case = { ...life(log, "one"), kind: "loop", run: () => 1 };
      const two: Case = { ...life(log, "two"), kind: "load", callers: 2, call: () => tick() };
      return [one, two];
    },
  });
  expect(log.slice(0, 2)).toEqual(["setup one", "setup two"]);
  expect(log.filter((entry) => entry === "turn one")).toHaveLength(6);
  expect(log.filter((entry) => entry === "turn two")).toHaveLength(6);
  expect(log.slice(-3)).toEqual(["teardown two", "teardown one", "close"]);
  expect(outcome.cases.map((each) => each.rounds.length)).toEqual([5, 5]);
});

test("a case is told once that it is warm: after its warm-up and before its first turn, whatever its kind", async () => {
  const log: string[] = [];
  const warmed = (name: string) => ({ ...life(log, name), warmedUp: () => void log.push(`warm ${name}`) });
  await run({
    cases: () => [
      { ...warmed("loop"), kind: "loop", run: () => 1 },
      { ...warmed("load"), kind: "load", callers: 1, call: () => tick() },
      // Its size is told by itself, or a fast clock would have it warm up twice.
      { ...warmed("work"), kind: "work", run: () => Promise.resolve({ operations: 1, elapsedMs: 10 }) },
    ],
  });
  for (const name of ["loop", "load", "work"]) {
    const turns = log.filter((entry) => entry.endsWith(name)).slice(1, 8);
    expect(turns).toEqual([`turn ${name}`, `warm ${name}`, ...Array<string>(5).fill(`turn ${name}`)]);
  }
});

test("what a turn leaves under way is waited for before the next turn begins", async () => {
  const log: string[] = [];
  const entry = (name: string): Case => ({
    kind: "load",
    callers: 1,
    name,
    beforeTurn: () => void log.push(`before ${name}`),
    call: () => tick(),
    afterTurn: async () => {
      await tick();
      log.push(`after ${name}`);
    },
  });
  await run({ cases: () => [entry("one"), entry("two")] });
  const pairs = Array.from({ length: log.length / 2 }, (_, pair) => log.slice(pair * 2, pair * 2 + 2));
  expect(pairs).toHaveLength(12);
  for (const [before, after] of pairs) expect(after).toBe(before?.replace("before", "after"));
});

test("a call that does many operations counts as many, and once among the latencies", async () => {
  let calls = 0;
  const batches: Case = {
    kind: "load",
    callers: 1,
    operationsPerCall: 200,
    name: "batches",
    async call() {
      await tick();
      calls += 1;
    },
  };
  const turn = await timeLoad(batches, 1);
  expect(turn.operations).toBe(200 * calls);
  expect(turn.latencies.total).toBe(calls);
});

test("a fixed piece of work is done once in every turn, and its single operations are what is recorded", async () => {
  const log: string[] = [];
  const drained: Case = {
    ...life(log, "drained"),
    kind: "work",
    async run(record) {
      log.push("run");
      await tick();
      for (const ms of [1, 2, 3]) record(ms);
      return 300;
    },
  };
  const outcome = await run({ cases: () => [drained] });
  const turns = log.slice(1, -1).join(" ").split("turn drained").slice(1);
  expect(turns.every((turn) => turn.trim() === "run")).toBe(true);
  expect(outcome.cases[0]?.rounds).toHaveLength(5);
  expect(outcome.cases[0]?.p50Ms).toBeCloseTo(2, 1);
});

const work = (operations: number): WorkCase => ({
  kind: "work",
  name: "drained",
  run: () => tick(operations),
});

test("work that records nothing counts as one latency, and work that did nothing fails the run", async () => {
  const turn = await timeWork(work(7));
  expect(turn.operations).toBe(7);
  expect(turn.latencies.total).toBe(1);
  await expect(timeWork(work(0))).rejects.toThrow("drained did 0 operations");
});

test("a case that cannot run here is left out with its ratios, and the reason is said", async () => {
  const said: string[] = [];
  const suite: Suite = {
    plans: { full: plan, quick: plan },
    ratios: [{ name: "a / b", of: "a", to: "b", goal: ">= 1000000" }],
    limits: [],
    cases: () => [
      { kind: "loop", name: "a", run: () => 1 },
      { kind: "loop", name: "b", missing: "no server is installed", run: () => 1 },
    ],
  };
  const progress = new Progress({ write: (text: string) => void said.push(text) }, "test");
  const { signal } = new AbortController();
  const outcome = await runSuite(suite, { quick: false, signal, progress });
  expect(outcome.cases.map(({ name }) => name)).toEqual(["a"]);
  expect(outcome.ratios).toEqual([]);
  expect(said.join("")).toContain("left out: b, because no server is installed");
});

const steady = (name: string, ms: number): Case => ({
  kind: "work",
  name,
  run: (record) => {
    for (let done = 0; done < 99; done += 1) record(ms);
    record(ms * 50);
    record(ms * 50);
    return tick(101);
  },
});

test("a ratio may divide by another figure than it takes", async () => {
  const outcome = await run({
    cases: () => [steady("a", 2), steady("b", 1)],
    ratios: [{ name: "p99 of a / p50 of b", of: "a", to: "b", figure: "p99Ms", toFigure: "p50Ms" }],
  });
  expect(outcome.ratios[0]?.value).toBeCloseTo(100, -1);
});

test("a call that fails stops the other callers, is reported as it was, and still closes everything", async () => {
  const log: string[] = [];
  let calls = 0;
  const call = async (caller: number): Promise<void> => {
    await tick();
    calls += 1;
    if (caller === 1) throw new Error("connection refused");
  };
  const failing: Case = { ...life(log, "failing"), kind: "load", callers: 3, call };
  const broken: Case = {
    kind: "loop",
    name: "broken",
    run: () => 1,
    teardown: () => {
      throw new Error("already closed");
    },
  };
  await expect(run({ cases: () => [failing, broken] })).rejects.toThrow("connection refused");
  expect(log.at(-1)).toBe("teardown failing");
  const callsAtEnd = calls;
  await tick();
  expect(calls).toBe(callsAtEnd);
});

test("an interrupt is heard between two turns of a loop, and the run closes what it opened", async () => {
  const log: string[] = [];
  const interrupt = new AbortController();
  const endless: Case = { ...life(log, "endless"), kind: "loop", run: () => 1 };
  // A signal arrives by the event loop, as this does; a run that never returns to it would go on to the end.
  setImmediate(() => interrupt.abort(new Error("interrupted")));
  await expect(run({ cases: () => [endless] }, interrupt.signal)).rejects.toThrow("interrupted");
  expect(log.filter((entry) => entry === "turn endless").length).toBeLessThan(6);
  expect(log.at(-1)).toBe("teardown endless");
});

test("limits see the figures of the cases while these are still open", async () => {
  const log: string[] = [];
  const outcome = await run({
    cases: () => [{ ...life(log, "one"), kind: "loop", run: () => 1 }],
    limits: [
      {
        name: "rounds",
        goal: "<= 4",
        measure(cases) {
          log.push("limit");
          return cases.get("one")?.rounds.length ?? Number.NaN;
        },
      },
    ],
  });
  expect(outcome.limits).toEqual([{ name: "rounds", value: 5, goal: "<= 4", met: false }]);
  expect(log.slice(-2)).toEqual(["limit", "teardown one"]);
});

test("the JSON has exactly the agreed fields", async () => {
  const machine = { cpu: "Test CPU", cores: 2, memoryGiB: 8, node: "v20.0.0", platform: "linux x64" };
  const outcome = await run({
    cases: () => ["a", "b"].map((name): Case => ({ kind: "loop", name, run: () => name })),
    ratios: [{ name: "a / b", of: "a", to: "b", goal: ">= 0" }],
    limits: [{ name: "size", goal: "<= 5", measure: () => 4.123_456_789 }],
  });
  const number = expect.any(Number) as number;
  expect(reportOf("test", machine, outcome)).toStrictEqual({
    suite: "test",
    machine,
    results: ["a", "b"].map((name) => ({ name, perSecond: number, p50Ms: number, p99Ms: number })),
    ratios: [{ name: "a / b", value: number, goal: ">= 0", met: true }],
    limits: [{ name: "size", value: 4.1235, goal: "<= 5", met: true }],
  });
});
