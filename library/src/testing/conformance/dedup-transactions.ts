import type { DedupPledge, Learned } from "./dedup-harness.js";
import { adapterOf, beginOn, count, learn } from "./dedup-harness.js";
import { holds, same } from "./expectation.js";

const LONG_S = 14 * 24 * 3600;
const A_MOMENT_MS = 30;

export const dedupTransactions: readonly DedupPledge[] = [
  {
    name: "a rollback forgets the id",
    needs: ["sharesHostTransaction"],
    async check(bench) {
      const transaction = await beginOn(bench);
      same(await learn(transaction.adapter, "evt_1", LONG_S), "first", "the record in the transaction");
      await transaction.rollback();
      same(await learn(adapterOf(bench, 0), "evt_1", LONG_S), "first", "a record after the rollback");
    },
  },
  {
    name: "a commit remembers the id",
    needs: ["sharesHostTransaction"],
    async check(bench) {
      const transaction = await beginOn(bench);
      same(await learn(transaction.adapter, "evt_1", LONG_S), "first", "the record in the transaction");
      await transaction.commit();
      same(await learn(adapterOf(bench, 0), "evt_1", LONG_S), "duplicate", "a record after the commit");
    },
  },
  {
    name: "an id that was recorded before is a duplicate in a transaction",
    needs: ["sharesHostTransaction"],
    async check(bench) {
      await learn(adapterOf(bench, 0), "evt_1", LONG_S);
      const transaction = await beginOn(bench);
      same(await learn(transaction.adapter, "evt_1", LONG_S), "duplicate", "the record in the transaction");
      await transaction.rollback();
    },
  },
  {
    name: "within one transaction the second call with an id is a duplicate",
    needs: ["sharesHostTransaction"],
    async check(bench) {
      const transaction = await beginOn(bench);
      same(await learn(transaction.adapter, "evt_1", LONG_S), "first", "the first record");
      same(await learn(transaction.adapter, "evt_1", LONG_S), "duplicate", "the second record");
      await transaction.rollback();
      same(await learn(adapterOf(bench, 0), "evt_1", LONG_S), "first", "a record after the rollback");
    },
  },
  {
    name: "a duplicate leaves the transaction fit for use",
    needs: ["sharesHostTransaction"],
    async check(bench) {
      await learn(adapterOf(bench, 0), "evt_1", LONG_S);
      const transaction = await beginOn(bench);
      await learn(transaction.adapter, "evt_1", LONG_S);
      same(await learn(transaction.adapter, "evt_2", LONG_S), "first", "another record in the transaction");
      await transaction.commit();
      same(await learn(adapterOf(bench, 0), "evt_2", LONG_S), "duplicate", "a record after the commit");
    },
  },
  {
    name: "an expired id that a transaction wins again is expired again when it rolls back",
    needs: ["sharesHostTransaction"],
    async check(bench) {
      const { time } = bench;
      await learn(adapterOf(bench, 0), "evt_1", time.tickS);
      await time.pass(2000 * time.tickS);
      const transaction = await beginOn(bench);
      same(await learn(transaction.adapter, "evt_1", LONG_S), "first", "the record in the transaction");
      await transaction.rollback();
      same(await learn(adapterOf(bench, 0), "evt_1", LONG_S), "first", "a record after the rollback");
    },
  },
  {
    name: "while a transaction holds an id, nobody else is told duplicate: false",
    needs: ["sharesHostTransaction"],
    async check(bench) {
      const transaction = await beginOn(bench);
      await learn(transaction.adapter, "evt_1", LONG_S);
      const other = learn(adapterOf(bench, 1), "evt_1", LONG_S);
      await moment();
      await transaction.commit();
      holds((await other) !== "first", "A second caller was told to be first");
    },
  },
  {
    name: "when a transaction gives an id back, exactly one other is first",
    needs: ["sharesHostTransaction"],
    async check(bench) {
      const transaction = await beginOn(bench);
      await learn(transaction.adapter, "evt_1", LONG_S);
      const waiting = [0, 1].map((caller) => learn(adapterOf(bench, caller), "evt_1", LONG_S));
      await moment();
      await transaction.rollback();
      const learned: Learned[] = await Promise.all(waiting);
      learned.push(await learn(adapterOf(bench, 0), "evt_1", LONG_S));
      same(count(learned, "first"), 1, "callers that were told to be first after the rollback");
    },
  },
  {
    name: "an id that a transaction holds keeps no other id waiting",
    needs: ["sharesHostTransaction", "manyWriters"],
    async check(bench) {
      const transaction = await beginOn(bench);
      await learn(transaction.adapter, "held", LONG_S);
      const held = learn(adapterOf(bench, 0), "held", LONG_S);
      const others = Array.from({ length: 40 }, (_, n) => learn(adapterOf(bench, n), `evt_${n}`, LONG_S));
      same(count(await Promise.all(others), "first"), others.length, "other ids that were first");
      await transaction.commit();
      holds((await held) !== "first", "A second caller of the held id was told to be first");
    },
  },
  {
    name: "two transactions that record the same ids in opposite order both come to an end",
    needs: ["sharesHostTransaction", "manyWriters"],
    async check(bench) {
      const [one, two] = [await beginOn(bench), await beginOn(bench)];
      await learn(one.adapter, "a", LONG_S);
      await learn(two.adapter, "b", LONG_S);
      const crossed = await Promise.all([learn(one.adapter, "b", LONG_S), learn(two.adapter, "a", LONG_S)]);
      same(count(crossed, "first"), 0, "transactions that were told to be first with the other's id");
      await Promise.all([one.rollback(), two.rollback()]);
      same(await learn(adapterOf(bench, 0), "a", LONG_S), "first", "a record after both rollbacks");
    },
  },
];

/** Long enough for a caller that would not wait to have done its harm. */
function moment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, A_MOMENT_MS));
}
