import * as fc from "fast-check";
import type { DedupBench, DedupHarness } from "posthorn/testing";
import { expect, it } from "vitest";
import { learn } from "../../library/src/testing/conformance/dedup/harness.js";
import { skipFor } from "../skip-reason.js";

interface Model {
  /** In ticks. */
  now: number;
  /** Id → when it expires, in ticks. */
  readonly expiries: Map<string, number>;
}

type Command = fc.AsyncCommand<Model, DedupBench>;

interface Recording {
  readonly id: string;
  /** In ticks, and never a whole number: the model need not know what happens at the very edge. */
  readonly ttl: number;
  /** How many call at once. */
  readonly copies: number;
}

class Recorded implements Command {
  readonly #recording: Recording;

  constructor(recording: Recording) {
    this.#recording = recording;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, bench: DedupBench): Promise<void> {
    const { id, ttl, copies } = this.#recording;
    const ttlS = ttl * bench.time.tickS;
    const learned = await Promise.all(
      Array.from({ length: copies }, (_, at) => learn(bench, id, { ttlS, at })),
    );
    const isNew = winsNow(model, id, ttl);
    expect(learned.filter((each) => each === "first")).toHaveLength(isNew ? 1 : 0);
    expect(learned.filter((each) => each === "duplicate")).toHaveLength(isNew ? copies - 1 : copies);
  }

  toString(): string {
    return `record(${JSON.stringify(this.#recording)})`;
  }
}

class InTransaction implements Command {
  readonly #recordings: readonly Recording[];
  readonly #commits: boolean;

  constructor(recordings: readonly Recording[], commits: boolean) {
    this.#recordings = recordings;
    this.#commits = commits;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, bench: DedupBench): Promise<void> {
    const inside = await bench.begin?.();
    if (inside === undefined) return;
    const within: Model = { now: model.now, expiries: new Map(model.expiries) };
    for (const { id, ttl } of this.#recordings) {
      const learned = await learn(bench, id, { ttlS: ttl * bench.time.tickS, inside });
      expect(learned).toBe(winsNow(within, id, ttl) ? "first" : "duplicate");
    }
    await (this.#commits ? inside.commit() : inside.rollback());
    if (!this.#commits) return;
    for (const [id, expiry] of within.expiries) model.expiries.set(id, expiry);
  }

  toString(): string {
    return `transaction(${JSON.stringify(this.#recordings)}, ${this.#commits ? "commit" : "rollback"})`;
  }
}

class Pass implements Command {
  readonly #ticks: number;

  constructor(ticks: number) {
    this.#ticks = ticks;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, { time }: DedupBench): Promise<void> {
    await time.pass(this.#ticks * time.tickS * 1000);
    model.now += this.#ticks;
  }

  toString(): string {
    return `pass(${this.#ticks})`;
  }
}

const recording: fc.Arbitrary<Recording> = fc.record({
  id: fc.constantFrom("evt_a", "evt_b", "caf\u00e9", "\0"),
  ttl: fc.constantFrom(0.5, 1.5, 3.5),
  copies: fc.constantFrom(1, 1, 2, 5),
});

const commands: fc.Arbitrary<Command>[] = [
  recording.map((each) => new Recorded(each)),
  recording.map((each) => new Recorded(each)),
  fc.tuple(fc.array(recording, { maxLength: 4 }), fc.boolean()).map((each) => new InTransaction(...each)),
  fc.constantFrom(1, 2).map((ticks) => new Pass(ticks)),
];

/** Runs random histories on an adapter and on a small model of it; rejects with the shortest on which they disagree. */
export async function checkDedupModel(harness: DedupHarness, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 25, size: "max" }), async (history) => {
      const bench = await harness.open();
      try {
        await fc.asyncModelRun(() => ({ model: { now: 0, expiries: new Map() }, real: bench }), history);
      } finally {
        await bench.close();
      }
    }),
    { numRuns },
  );
}

/** The same as a test of vitest. */
export function dedupModelTest(
  what: string,
  harness: DedupHarness,
  { numRuns = 100, missing }: { readonly numRuns?: number; readonly missing?: string } = {},
): void {
  const options = { ...skipFor(missing), timeout: 120_000 };
  it(`${what} gives the verdicts of the model, whatever happens in whatever order`, options, () =>
    checkDedupModel(harness, numRuns),
  );
}

/** Whether a record is first; if so, the model remembers it. */
function winsNow({ now, expiries }: Model, id: string, ttl: number): boolean {
  if ((expiries.get(id) ?? 0) > now) return false;
  expiries.set(id, now + ttl);
  return true;
}
