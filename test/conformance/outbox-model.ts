import * as fc from "fast-check";
import type { OutboxBench, OutboxHarness } from "posthorn/testing";
import { it } from "vitest";
import type { DeadPolicy } from "../../library/src/lanes/dead.js";
import { skipFor } from "../skip-reason.js";
import {
  claiming,
  claimingAlone,
  claimingSome,
  dying,
  publishing,
  storeTime,
} from "./outbox-model/claiming.js";
import type { Publishing, StoreTime } from "./outbox-model/claiming.js";
import { compareAtTheEnd, compared } from "./outbox-model/comparing.js";
import { ENDPOINT_NAMES, Model, QUIET, WORKERS } from "./outbox-model/model.js";
import type { Command } from "./outbox-model/model.js";
import {
  addNamed,
  adding,
  cancelling,
  extending,
  passing,
  pausing,
  redriving,
  releasing,
  removing,
  retrying,
  skipping,
} from "./outbox-model/operating.js";
import type { Retrying } from "./outbox-model/operating.js";
import type { Met } from "./outbox-model/rows.js";
import { burying, insisting, poisoning, regretting } from "./outbox-model/scenes.js";
import { FINDINGS, settling } from "./outbox-model/settling.js";
import type { Doing } from "./outbox-model/settling.js";

const worker = fc.constantFrom(...WORKERS);
const endpoint = fc.constantFrom(...ENDPOINT_NAMES);
const policy = fc.constantFrom<DeadPolicy>("halt", "skip", "park");
const small = fc.nat({ max: 5 });
const retried = fc.constantFrom<Retrying>("endpoint", "lane", "delivery", "behind");
const published: fc.Arbitrary<Publishing> = fc.record({
  key: fc.constantFrom("a", "b", undefined),
  type: fc.constantFrom("order.paid", "order.paid", QUIET),
  count: fc.constantFrom(1, 2, 5),
  how: fc.constantFrom("append", "append", "commit", "rollback"),
  expiresIn: fc.constantFrom(undefined, undefined, 3.5),
});
const doing: fc.Arbitrary<Doing> = fc.record({
  acknowledged: fc.constantFrom(0, 0.5, 1, 1),
  finding: fc.constantFrom(...FINDINGS),
  policy,
  next: fc.boolean(),
});

function commandsAt(time: () => StoreTime): fc.Arbitrary<Command>[] {
  return [
    published.map((each) => publishing(each, time)),
    fc.tuple(worker, fc.constantFrom(1, 3, 8)).map((each) => claiming(...each)),
    fc.tuple(worker, fc.constantFrom(1, 1, 3)).map((each) => dying(...each)),
    fc.tuple(worker, fc.constantFrom(1, 1, 3)).map((each) => dying(...each)),
    fc.tuple(worker, fc.constantFrom(1, 2)).map((each) => claimingSome(...each)),
    worker.map((each) => claimingAlone(each)),
    fc.tuple(small, doing).map((each) => settling(...each)),
    fc.tuple(small, doing).map((each) => settling(...each)),
    fc.tuple(small, doing).map((each) => settling(...each)),
    fc.tuple(small, doing).map((each) => settling(...each)),
    fc.constantFrom(1, 2, 3).map((ticks) => passing(ticks)),
    fc.constantFrom(3).map((ticks) => passing(ticks)),
    fc.tuple(endpoint, fc.constantFrom(true, false, false)).map((each) => pausing(...each)),
    fc.oneof(
      { weight: 1, arbitrary: endpoint.map((id) => removing(id)) },
      { weight: 3, arbitrary: endpoint.map((id) => adding(id)) },
    ),
    fc.tuple(worker, fc.boolean()).map((each) => releasing(...each)),
    fc.tuple(worker, small).map((each) => extending(...each)),
    fc.tuple(small, fc.constantFrom(0, 0, 0, -1, 1)).map((each) => skipping(...each)),
    fc.tuple(small, fc.constantFrom(0, 0, 1, 3, -1)).map((each) => cancelling(...each)),
    small.map((at) => redriving(at)),
    fc.oneof(
      fc.tuple(small, retried).map((each) => retrying(...each)),
      fc.tuple(worker, small, retried).map((each) => insisting(...each)),
    ),
    fc
      .tuple(worker, small, fc.constantFrom("claim", "die", "release", "settle", "nothing"))
      .map((each) => regretting(...each)),
    fc.oneof(
      fc.tuple(worker, fc.constantFrom("claim", "die")).map((each) => poisoning(...each)),
      fc.tuple(worker, small, policy).map((each) => burying(...each)),
    ),
  ];
}

/**
 * Runs random histories on an outbox and on a small model of it; rejects with the shortest on which they disagree. Says
 * which rows of spec/states.md they met.
 */
export async function checkOutboxModel<Tx>(
  harness: OutboxHarness<Tx>,
  numRuns: number,
  seed?: number,
): Promise<Met> {
  const met: Met = new Map();
  let time: StoreTime = { startMs: 0, moves: false };
  const histories = fc.commands(
    commandsAt(() => time).map((each) => each.map(compared)),
    { maxCommands: 40, size: "max" },
  );
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const bench = (await harness.open()) as unknown as OutboxBench;
      const model = new Model(met);
      try {
        // A store whose clock cannot be turned has its rows moved into the past instead.
        time = await storeTime(bench, harness.exactTime);
        for (const id of ENDPOINT_NAMES) await addNamed(bench, id);
        await fc.asyncModelRun(() => ({ model, real: bench }), history);
        await compareAtTheEnd(model, bench);
      } finally {
        await bench.close();
      }
    }),
    { numRuns, ...(seed !== undefined && { seed }) },
  );
  return met;
}

/** The same as a test of vitest. */
export function outboxModelTest<Tx>(
  what: string,
  harness: OutboxHarness<Tx>,
  { numRuns = 100, missing }: { readonly numRuns?: number; readonly missing?: string } = {},
): void {
  const options = { ...skipFor(missing), timeout: 120_000 };
  it(`${what} does what the model says, whatever happens in whatever order`, options, async () => {
    await checkOutboxModel(harness, numRuns);
  });
}
