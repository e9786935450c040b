import type { DedupPledge, Learned } from "./harness.js";
import { beginOn, count, learn } from "./harness.js";
import { holds, same } from "../expectation.js";

const A_MOMENT_MS = 30;

export const dedupTransactions: readonly DedupPledge[] = [
  {
    name: "a rollback forgets the id",
    needs: ["sharesHostTransaction"],
    async check(bench) {
      const transaction = await beginOn(bench);
      same(await learn(bench, "evt_1", { inside: transaction }), "first", "the record in the transaction");
      await transaction.rollback();
      same(await learn(bench, "evt_1"), "first", "a record after the rollback");
    },
  },
  {
    name: "a commit remembers the id",
    needs: ["sharesHostTransaction"],
    async check(bench) {
      const transaction = await beginOn(bench);
      same(await learn(bench, "evt_1", { inside: transaction }), "first", "the record in the transaction");
      await transaction.commit();
      same(await learn(bench, "evt_1"), "duplicate", "a record after the commit");
    },
  },
  {
    name: "an id that was recorded before is a duplicate in a transaction",
    needs: ["sharesHostTransaction"],
    async check(bench) {
      await learn(bench, "evt_1");
      const transaction = await beginOn(bench);
      same(
        await learn(bench, "evt_1", { inside: transaction }),
        "duplicate",
        "the record in the transaction",
      );
      await transaction.rollback();
    },
  },
  {
    name: "within one transaction the second call with an id is a duplicate",
    needs: ["sharesHostTransaction"],
    async check(bench) {
      const transaction = await beginOn(bench);
      same(await learn(bench, "evt_1", { inside: transaction }), "first", "the first record");
      same(await learn(bench, "evt_1", { inside: transaction }), "duplicate", "the second record");
      await transaction.rollback();
      same(await learn(bench, "evt_1"), "first", "a record after the rollback");
    },
  },
  {
    name: "a duplicate leaves the transaction fit for use",
    needs: ["sharesHostTransaction"],
    async check(bench) {
      await learn(bench, "evt_1");
      const transaction = await beginOn(bench);
      await learn(bench, "evt_1", { inside: transaction });
      same(
        await learn(bench, "evt_2", { inside: transaction }),
        "first",
        "another record in the transaction",
      );
      await transaction.commit();
      same(await learn(bench, "evt_2"), "duplicate", "a record after the commit");
    },
  },
  {
    name: "an expired id that a transaction wins again is expired again when it rolls back",
    needs: ["sharesHostTransaction"],
    async check(bench) {
      const { time } = bench;
      await learn(bench, "evt_1", { ttlS: time.tickS });
      await time.pass(2000 * time.tickS);
      const transaction = await beginOn(bench);
      same(await learn(bench, "evt_1", { inside: transaction }), "first", "the record in the transaction");
      await transaction.rollback();
      same(await learn(bench, "evt_1"), "first", "a record after the rollback");
    },
  },
  {
    name: "while a transaction holds an id, nobody else is told duplicate: false",
    needs: ["sharesHostTransaction"],
    async check(bench) {
      const transaction = await beginOn(bench);
      await learn(bench, "evt_1", { inside: transaction });
      const other = learn(bench, "evt_1", { at: 1 });
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
      await learn(bench, "evt_1", { inside: transaction });
      const waiting = [0, 1].map((caller) => learn(bench, "evt_1", { at: caller }));
      await moment();
      await transaction.rollback();
      const learned: Learned[] = await Promise.all(waiting);
      learned.push(await learn(bench, "evt_1"));
      same(count(learned, "first"), 1, "callers that were told to be first after the rollback");
    },
  },
  {
    name: "an id that a transaction holds keeps no other id waiting",
    needs: ["sharesHostTransaction", "manyWriters"],
    async check(bench) {
      const transaction = await beginOn(bench);
      await learn(bench, "held", { inside: transaction });
      const held = learn(bench, "held");
      const others = Array.from({ length: 40 }, (_, n) => learn(bench, `evt_${n}`, { at: n }));
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
      await learn(bench, "a", { inside: one });
      await learn(bench, "b", { inside: two });
      const crossed = await Promise.all([
        learn(bench, "b", { inside: one }),
        learn(bench, "a", { inside: two }),
      ]);
      same(count(crossed, "first"), 0, "transactions that were told to be first with the other's id");
      await Promise.all([one.rollback(), two.rollback()]);
      same(await learn(bench, "a"), "first", "a record after both rollbacks");
    },
  },
];

/** Long enough for a caller that would not wait to have done its harm. */
function moment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, A_MOMENT_MS));
}
