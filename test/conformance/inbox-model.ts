import * as fc from "fast-check";
import type { InboxBench, InboxHarness } from "posthorn/testing";
import { expect, it } from "vitest";
import { utf8 } from "../../library/src/bytes.js";
import type { Acceptance, Arrival, InboxOutcome } from "../../library/src/inbox/inbox-store.js";
import {
  accept,
  arrivalOf,
  passTicks,
  storeOf,
} from "../../library/src/testing/conformance/inbox/harness.js";
import { skipFor } from "../skip-reason.js";

/** All that the model knows of an event. */
interface ModelRow {
  readonly outcome: InboxOutcome;
  readonly body: string;
  readonly attempts: number;
  /** In ticks; undefined = for ever, and while it is failed. */
  readonly keepUntil: number | undefined;
}

interface Model {
  /** In ticks. */
  now: number;
  readonly rows: Map<string, ModelRow>;
  readonly written: Map<string, number>;
  readonly touchedAt: Map<string, number>;
  /** Whether the process's own clock moves with the store's. */
  readonly oneClock: boolean;
}

type Command = fc.AsyncCommand<Model, InboxBench>;

interface Delivery {
  readonly id: string;
  readonly body: string;
  readonly doing: "success" | "skipped" | "throws";
  /** How many arrive at once. */
  readonly copies: number;
}

class Deliver implements Command {
  readonly #delivery: Delivery;

  constructor(delivery: Delivery) {
    this.#delivery = delivery;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, bench: InboxBench): Promise<void> {
    const { id, body, copies, doing } = this.#delivery;
    const arrival = await arrivalFor(bench, this.#delivery);
    const does = doing === "throws" ? { throws: new Error("no") } : { outcome: doing };
    const acceptances = await Promise.all(
      Array.from({ length: copies }, (_, at) => accept(bench, arrival, { ...does, at, mark: id })),
    );
    const before = model.rows.get(id);
    const promised = promise(before && kept(before, model.now), this.#delivery);
    expect(acceptances.map(({ kind }) => kind)).toContain(promised);
    for (const acceptance of acceptances) this.#expectSound(acceptance, promised);
    const applied = acceptances.filter(({ kind }) => kind === "applied").length;
    // A skip is taken over by the next one, and applies nothing either time.
    if (doing === "skipped" && promised === "applied") expect(applied).toBeGreaterThanOrEqual(1);
    else expect(applied).toBe(promised === "applied" ? 1 : 0);
    const failures = acceptances.filter(({ kind }) => kind === "failed").length;
    for (let failure = 0; failure < failures; failure++) await storeOf(bench, failure).fail(arrival, "no");
    if (applied + failures === 0) return;
    const attempts = (before?.attempts ?? 0) + applied + failures;
    const outcome = doing === "throws" ? "failed" : doing;
    const until = outcome === "failed" ? undefined : keepUntil(model, this.#delivery);
    model.rows.set(id, { outcome, body, attempts, keepUntil: until });
    model.written.set(id, (model.written.get(id) ?? 0) + applied);
  }

  /** Of several at once, some may learn only that another is looking at the event; and losers that it was applied. */
  #expectSound({ kind }: Acceptance, promised: Acceptance["kind"]): void {
    const others =
      this.#delivery.copies > 1 ? ["busy", ...(promised === "applied" ? ["duplicate"] : [])] : [];
    expect([promised, ...others]).toContain(kind);
  }

  toString(): string {
    return `deliver(${JSON.stringify(this.#delivery)})`;
  }
}

class FailLate implements Command {
  readonly #delivery: Delivery;

  constructor(delivery: Delivery) {
    this.#delivery = delivery;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, bench: InboxBench): Promise<void> {
    const { id, body } = this.#delivery;
    await storeOf(bench, 1).fail(await arrivalFor(bench, this.#delivery), "late");
    const before = model.rows.get(id);
    if (before?.outcome === "success" && kept(before, model.now) !== undefined) return;
    const attempts = (before?.attempts ?? 0) + 1;
    model.rows.set(id, { outcome: "failed", body, attempts, keepUntil: undefined });
  }

  toString(): string {
    return `failLate(${JSON.stringify(this.#delivery)})`;
  }
}

class Touch implements Command {
  readonly #delivery: Delivery;

  constructor(delivery: Delivery) {
    this.#delivery = delivery;
  }

  /** A second touch within a minute of the process's clock may or may not be written. */
  check({ rows, touchedAt, now, oneClock }: Readonly<Model>): boolean {
    const { id } = this.#delivery;
    const rested = touchedAt.get(id) === undefined || (oneClock && touchedAt.get(id) !== now);
    return rested && rows.get(id) !== undefined;
  }

  async run(model: Model, bench: InboxBench): Promise<void> {
    const { id } = this.#delivery;
    storeOf(bench, 0).touch(await arrivalFor(bench, this.#delivery));
    await storeOf(bench, 0).flush();
    const row = model.rows.get(id);
    if (row && row.outcome !== "failed") {
      model.rows.set(id, { ...row, keepUntil: keepUntil(model, this.#delivery) });
    }
    model.touchedAt.set(id, model.now);
  }

  toString(): string {
    return `touch(${this.#delivery.id})`;
  }
}

class Purge implements Command {
  readonly #maxRows: number;

  constructor(maxRows: number) {
    this.#maxRows = maxRows;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, bench: InboxBench): Promise<void> {
    const report = await storeOf(bench, 0).purge({ maxRows: this.#maxRows, deadlineMs: 5000 });
    const passed = [...model.rows].filter(([, row]) => mayGo(row, model.now));
    const removed = Math.min(this.#maxRows, passed.length);
    expect(report).toEqual({ removed, more: passed.length > removed });
    // Of rows whose windows ended at one time any may go first, so the store says which.
    const gone: ModelRow[] = [];
    for (const [id, row] of passed) {
      if ((await storeOf(bench, 1).read(await arrivalOf({ id }))) !== undefined) continue;
      gone.push(row);
      model.rows.delete(id);
    }
    expect(gone).toHaveLength(removed);
    const left = [...model.rows.values()].filter((row) => mayGo(row, model.now));
    for (const row of left) for (const other of gone) expect(end(other)).toBeLessThanOrEqual(end(row));
  }

  toString(): string {
    return `purge(${this.#maxRows})`;
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

  async run(model: Model, bench: InboxBench): Promise<void> {
    await passTicks(bench, this.#ticks);
    model.now += this.#ticks;
  }

  toString(): string {
    return `pass(${this.#ticks})`;
  }
}

/** After every command the whole store looks as the model says. */
class Compared implements Command {
  readonly #command: Command;

  constructor(command: Command) {
    this.#command = command;
  }

  check(model: Readonly<Model>): boolean {
    return this.#command.check(model);
  }

  async run(model: Model, bench: InboxBench): Promise<void> {
    await this.#command.run(model, bench);
    for (const id of IDS) await this.#compare(id, model, bench);
    const marks = await bench.written();
    for (const id of IDS) {
      expect(marks.filter((mark) => mark === id)).toHaveLength(model.written.get(id) ?? 0);
    }
  }

  async #compare(id: string, { rows, now }: Model, bench: InboxBench): Promise<void> {
    const key = await arrivalOf({ id });
    const row = rows.get(id);
    const found = await storeOf(bench, 0).read(key);
    const seen = found && { ...found, body: new TextDecoder().decode(found.body) };
    const { outcome, attempts, body } = row ?? {};
    expect(seen).toEqual(row && expect.objectContaining({ outcome, attempts, body }));
    expect(found?.keepUntil === undefined).toBe(row?.keepUntil === undefined);
    expect((await storeOf(bench, 1).find(key))?.outcome).toBe((row && kept(row, now))?.outcome);
  }

  toString(): string {
    return String(this.#command);
  }
}

// Each with a window of its own, as each source has one: in ticks, and never a whole number, so that the model need
// not know what happens at the very edge. Undefined = for ever.
const WINDOWS: ReadonlyMap<string, number | undefined> = new Map([
  ["evt_a", 0.5],
  ["evt_b", 1.5],
  ["evt_c", 3.5],
  ["caf\u00e9", undefined],
]);
const IDS = [...WINDOWS.keys()];

const delivery: fc.Arbitrary<Delivery> = fc.record({
  id: fc.constantFrom(...IDS),
  body: fc.constantFrom("", "one", "other"),
  doing: fc.constantFrom("success", "success", "skipped", "throws"),
  copies: fc.constantFrom(1, 1, 1, 2, 4),
});

const commands: fc.Arbitrary<Command>[] = [
  delivery.map((each) => new Deliver(each)),
  delivery.map((each) => new Deliver(each)),
  delivery.map((each) => new FailLate(each)),
  delivery.map((each) => new Touch(each)),
  fc.constantFrom(1, 2, 100).map((maxRows) => new Purge(maxRows)),
  fc.constantFrom(1, 2, 3).map((ticks) => new Pass(ticks)),
];

/** Runs random histories on a store and on a small model of it; rejects with the shortest on which they disagree. */
export async function checkInboxModel<Tx>(harness: InboxHarness<Tx>, numRuns: number): Promise<void> {
  const compared = commands.map((each) => each.map((command): Command => new Compared(command)));
  const histories = fc.commands(compared, { maxCommands: 25, size: "max" });
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const bench = (await harness.open()) as unknown as InboxBench;
      const known = { rows: new Map(), written: new Map(), touchedAt: new Map() };
      const model: Model = { now: 0, ...known, oneClock: harness.exactTime };
      try {
        await fc.asyncModelRun(() => ({ model, real: bench }), history);
      } finally {
        await bench.close();
      }
    }),
    { numRuns },
  );
}

/** The same as a test of vitest. */
export function inboxModelTest<Tx>(
  what: string,
  harness: InboxHarness<Tx>,
  { numRuns = 100, missing }: { readonly numRuns?: number; readonly missing?: string } = {},
): void {
  const options = { ...skipFor(missing), timeout: 120_000 };
  it(`${what} does what the model says, whatever happens in whatever order`, options, () =>
    checkInboxModel(harness, numRuns),
  );
}

/** What is known of an event: nothing after its window, whether or not a purge has removed its row. */
function kept(row: ModelRow, now: number): ModelRow | undefined {
  return mayGo(row, now) ? undefined : row;
}

function promise(row: ModelRow | undefined, { body, doing }: Delivery): Acceptance["kind"] {
  if (row?.outcome !== "success") return doing === "throws" ? "failed" : "applied";
  return row.body === body ? "duplicate" : "conflict";
}

function arrivalFor({ time }: InboxBench, { id, body }: Delivery): Promise<Arrival> {
  const window = WINDOWS.get(id);
  const windowS = window === undefined ? undefined : window * time.tickS;
  return arrivalOf({ id, body: utf8(body), windowS });
}

function keepUntil({ now }: Model, { id }: Delivery): number | undefined {
  const window = WINDOWS.get(id);
  return window === undefined ? undefined : now + window;
}

function mayGo({ outcome, keepUntil: until }: ModelRow, now: number): boolean {
  return outcome !== "failed" && until !== undefined && until < now;
}

function end({ keepUntil: until }: ModelRow): number {
  return until ?? Number.POSITIVE_INFINITY;
}
