import type { DedupBench, DedupPledge } from "./harness.js";
import { count, learn, race } from "./harness.js";
import { same } from "../expectation.js";

const FOR_LONG = 1000;

export const dedupRetention: readonly DedupPledge[] = [
  {
    name: "an id is remembered until its ttl has passed",
    async check(bench) {
      same(await learnFor(bench, "evt_1", 4), "first", "the first record");
      await passTicks(bench, 2);
      same(await learnFor(bench, "evt_1", 4), "duplicate", "a record in the middle of the window");
    },
  },
  {
    name: "when the ttl has passed, the id is new again",
    async check(bench) {
      await learnFor(bench, "evt_1", 1);
      await passTicks(bench, 2);
      same(await learnFor(bench, "evt_1", FOR_LONG), "first", "a record after the window");
      same(await learnFor(bench, "evt_1", FOR_LONG), "duplicate", "the next record");
    },
  },
  {
    name: "when the ttl has passed, exactly one of all concurrent calls gets duplicate: false again",
    async check(bench) {
      for (let round = 0; round < 3; round++) {
        const learned = await race(bench, "evt_1", 30);
        same(count(learned, "first"), 1, `callers of round ${round} that were told to be first`);
        await passTicks(bench, 2);
      }
    },
  },
  {
    name: "the ttl counts from the first receipt: a duplicate does not extend it",
    async check(bench) {
      await learnFor(bench, "evt_1", 3);
      await passTicks(bench, 2);
      same(await learnFor(bench, "evt_1", FOR_LONG), "duplicate", "a record within the window");
      await passTicks(bench, 2);
      same(await learnFor(bench, "evt_1", 3), "first", "a record after the first receipt's window");
    },
  },
  {
    name: "each id has a ttl of its own",
    async check(bench) {
      await learnFor(bench, "long", FOR_LONG);
      await learnFor(bench, "short", 1);
      await passTicks(bench, 2);
      same(await learnFor(bench, "long", FOR_LONG), "duplicate", "the id with the long ttl");
      same(await learnFor(bench, "short", FOR_LONG), "first", "the id with the short ttl");
    },
  },
  {
    name: "an id is a duplicate up to the last millisecond of its ttl",
    needs: ["exactTime"],
    async check(bench) {
      same(await learn(bench, "evt_1", { ttlS: 1.5 }), "first", "the first record");
      await bench.time.pass(1499);
      same(await learn(bench, "evt_1", { ttlS: 1.5 }), "duplicate", "a record at 1,499 of 1,500 ms");
    },
  },
  {
    name: "an id is new at the very moment its ttl has passed",
    needs: ["exactTime"],
    async check(bench) {
      same(await learn(bench, "evt_1", { ttlS: 1.5 }), "first", "the first record");
      await bench.time.pass(1500);
      same(await learn(bench, "evt_1", { ttlS: 1.5 }), "first", "a record at 1,500 of 1,500 ms");
    },
  },
];

function learnFor(bench: DedupBench, id: string, ticks: number): ReturnType<typeof learn> {
  return learn(bench, id, { ttlS: ticks * bench.time.tickS });
}

function passTicks({ time }: DedupBench, ticks: number): Promise<void> {
  return time.pass(ticks * time.tickS * 1000);
}
