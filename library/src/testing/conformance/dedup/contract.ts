import type { DedupPledge } from "./harness.js";
import { count, learn, race } from "./harness.js";
import { same } from "../expectation.js";

const CALLERS = 50;

export const dedupContract: readonly DedupPledge[] = [
  {
    name: "the first call with an id gets duplicate: false, every later one duplicate: true",
    async check(bench) {
      for (const promised of ["first", "duplicate", "duplicate"]) {
        same(await learn(bench, "evt_1"), promised, "record of evt_1");
      }
    },
  },
  {
    name: "an id that one process recorded is a duplicate in every other",
    needs: ["multiProcess"],
    async check(bench) {
      same(await learn(bench, "evt_1"), "first", "record in one process");
      same(await learn(bench, "evt_1", { at: 1 }), "duplicate", "record in another");
    },
  },
  {
    name: "what is known of one id says nothing of another",
    async check(bench) {
      for (let n = 0; n < 20; n++) {
        same(await learn(bench, `evt_${n}`), "first", `record of evt_${n}`);
      }
    },
  },
];

export const dedupConcurrency: readonly DedupPledge[] = [
  {
    name: "of all concurrent calls with one id, exactly one gets duplicate: false",
    async check(bench) {
      for (let round = 0; round < 5; round++) {
        const learned = await race(
          { ...bench, adapters: bench.adapters.slice(0, 1) },
          `evt_${round}`,
          CALLERS,
        );
        same(count(learned, "first"), 1, `callers of ${CALLERS} that were told to be first`);
      }
    },
  },
  {
    name: "of all concurrent calls with one id in several processes, exactly one gets duplicate: false",
    needs: ["multiProcess"],
    async check(bench) {
      for (let round = 0; round < 5; round++) {
        const learned = await race(bench, `evt_${round}`, CALLERS);
        same(count(learned, "first"), 1, `callers of ${CALLERS} that were told to be first`);
      }
    },
  },
  {
    name: "concurrent calls with many ids in any order each have exactly one first",
    async check(bench) {
      const ids = Array.from({ length: 60 }, (_, n) => `evt_${n}`);
      // Four callers go through the same ids in different orders: batches that lock in array order deadlock here.
      const orders = [ids, ids.toReversed(), rotated(ids, 20), rotated(ids.toReversed(), 40)];
      const learned = await Promise.all(
        orders.flatMap((order, at) =>
          order.map(async (id) => ({ id, told: await learn(bench, id, { at }) })),
        ),
      );
      for (const id of ids) {
        const ofId = learned.filter((each) => each.id === id).map((each) => each.told);
        same(count(ofId, "first"), 1, `callers that were told to be first with ${id}`);
      }
    },
  },
  {
    name: "a caller that is told duplicate: true is told so because another was told duplicate: false",
    async check(bench) {
      const learned = await race(bench, "evt_1", CALLERS);
      const told = count(learned, "duplicate") + count(learned, "busy");
      same(told, CALLERS - 1, "callers that were not first");
      same(await learn(bench, "evt_1", { at: 1 }), "duplicate", "a record after all of them");
    },
  },
];

function rotated(ids: readonly string[], by: number): string[] {
  return [...ids.slice(by), ...ids.slice(0, by)];
}
