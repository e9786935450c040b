import * as fc from "fast-check";
import type { OutboxBench, OutboxHarness } from "posthorn/testing";
import { expect, it } from "vitest";
import { addEndpoint, historyOf } from "../../library/src/testing/conformance/outbox/steps.js";
import { skipFor } from "../skip-reason.js";
import { claiming, claimingAlone, claimingSome, dying, publishing } from "./outbox-model/claiming.js";
import { compared, compareLookups } from "./outbox-model/comparing.js";
import { ENDPOINTS, Model, WORKERS } from "./outbox-model/model.js";
import type { Command } from "./outbox-model/model.js";
import { passing, pausing, redriving, releasing, skipping } from "./outbox-model/operating.js";
import { settling } from "./outbox-model/settling.js";
import type { Doing } from "./outbox-model/settling.js";

const key = fc.constantFrom("a", "b", undefined);
const worker = fc.constantFrom(...WORKERS);
const doing: fc.Arbitrary<Doing> = fc.record({
  acknowledged: fc.constantFrom(0, 0.5, 1, 1),
  rest: fc.constantFrom("due", "due_uncounted", "halt", "skip", "park", "cancelled", "nothing"),
  next: fc.boolean(),
});
const small = fc.nat({ max: 5 });

const commands: fc.Arbitrary<Command>[] = [
  fc
    .tuple(key, fc.constantFrom(1, 2, 5), fc.constantFrom("append", "append", "commit", "rollback"))
    .map((each) => publishing(...each)),
  fc.tuple(worker, fc.constantFrom(1, 3, 8)).map((each) => claiming(...each)),
  fc.tuple(worker, fc.constantFrom(1, 1, 3)).map((each) => dying(...each)),
  fc.tuple(worker, fc.constantFrom(1, 1, 3)).map((each) => dying(...each)),
  fc.tuple(worker, fc.constantFrom(1, 2)).map((each) => claimingSome(...each)),
  worker.map((each) => claimingAlone(each)),
  fc.tuple(small, doing).map((each) => settling(...each)),
  fc.tuple(small, doing).map((each) => settling(...each)),
  fc.tuple(small, doing).map((each) => settling(...each)),
  fc.constantFrom(1, 2, 3).map((ticks) => passing(ticks)),
  fc.constantFrom(3).map((ticks) => passing(ticks)),
  fc.tuple(fc.constantFrom(...Object.keys(ENDPOINTS)), fc.boolean()).map((each) => pausing(...each)),
  worker.map((each) => releasing(each)),
  fc.tuple(small, fc.constantFrom(0, 0, 0, -1, 1)).map((each) => skipping(...each)),
  small.map((at) => redriving(at)),
];

/** Runs random histories on an outbox and on a small model of it; rejects with the shortest on which they disagree. */
export async function checkOutboxModel<Tx>(
  harness: OutboxHarness<Tx>,
  numRuns: number,
  seed?: number,
): Promise<void> {
  const histories = fc.commands(
    commands.map((each) => each.map(compared)),
    { maxCommands: 40, size: "max" },
  );
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const bench = (await harness.open()) as unknown as OutboxBench;
      const model = new Model();
      try {
        for (const [id, dead] of Object.entries(ENDPOINTS)) {
          await addEndpoint(bench, { id, dead, order: id.slice(3) as "key" | "endpoint" | "none" });
        }
        await fc.asyncModelRun(() => ({ model, real: bench }), history);
        await compareLookups(model, bench);
        for (const [id, attempts] of model.history)
          expect(await historyOf(bench, id)).toBe(attempts.join(", "));
      } finally {
        await bench.close();
      }
    }),
    { numRuns, ...(seed !== undefined && { seed }) },
  );
}

/** The same as a test of vitest. */
export function outboxModelTest<Tx>(
  what: string,
  harness: OutboxHarness<Tx>,
  { numRuns = 100, missing }: { readonly numRuns?: number; readonly missing?: string } = {},
): void {
  const options = { ...skipFor(missing), timeout: 120_000 };
  it(`${what} does what the model says, whatever happens in whatever order`, options, () =>
    checkOutboxModel(harness, numRuns),
  );
}
