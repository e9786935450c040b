import type { Arrival, PurgeLimits } from "../../../inbox/inbox-store.js";
import { alike, holds, same } from "../expectation.js";
import type { InboxBench, InboxPledge } from "./harness.js";
import { apply, arrivalOf, failOnce, passTicks, rowOf, storeOf } from "./harness.js";

const ALL: PurgeLimits = { maxRows: 1000, deadlineMs: 5000 };

export const inboxRetention: readonly InboxPledge[] = [
  {
    name: "purge leaves rows whose window has not passed",
    async check(bench) {
      const arrival = await arrivedFor(bench, "evt_1", 4);
      await passTicks(bench, 2);
      alike(await storeOf(bench, 0).purge(ALL), { removed: 0, more: false }, "purge");
      same((await storeOf(bench, 0).find(arrival))?.outcome, "success", "the known outcome");
    },
  },
  {
    name: "purge removes rows whose window has passed, and their events are new again",
    async check(bench) {
      const arrival = await arrivedFor(bench, "evt_1", 1);
      await arrivedFor(bench, "evt_2", 1);
      await passTicks(bench, 2);
      alike(await storeOf(bench, 0).purge(ALL), { removed: 2, more: false }, "purge");
      same(await storeOf(bench, 1).read(arrival), undefined, "read");
      await apply(bench, arrival);
    },
  },
  {
    name: "an event whose window has passed is new again, though no purge has removed it",
    async check(bench) {
      const arrival = await arrivedFor(bench, "evt_1", 1);
      await passTicks(bench, 2);
      same(await storeOf(bench, 0).find(arrival), undefined, "find");
      await apply(bench, { ...arrival, windowS: 100 * bench.time.tickS });
      same((await storeOf(bench, 1).find(arrival))?.outcome, "success", "the known outcome");
      same((await storeOf(bench, 0).purge(ALL)).removed, 0, "rows removed within the new window");
    },
  },
  {
    name: "a failure of an event whose window has passed is recorded, though no purge has removed it",
    async check(bench) {
      const arrival = await arrivedFor(bench, "evt_1", 1);
      await passTicks(bench, 2);
      await failOnce(bench, arrival);
      const { outcome, keepUntil } = await rowOf(bench, arrival);
      alike({ outcome, keepUntil }, { outcome: "failed", keepUntil: undefined }, "the row");
    },
  },
  {
    name: "purge never removes a row that says failed",
    async check(bench) {
      const arrival = await arrivalOf({ windowS: bench.time.tickS });
      await failOnce(bench, arrival);
      await passTicks(bench, 2);
      alike(await storeOf(bench, 0).purge(ALL), { removed: 0, more: false }, "purge");
      same((await storeOf(bench, 0).find(arrival))?.outcome, "failed", "the known outcome");
    },
  },
  {
    name: "a failed row that was taken over is purged like any other",
    async check(bench) {
      const arrival = await arrivalOf({ windowS: bench.time.tickS });
      await failOnce(bench, arrival);
      await passTicks(bench, 2);
      await apply(bench, arrival);
      same((await storeOf(bench, 0).purge(ALL)).removed, 0, "rows removed within the window of the success");
      await passTicks(bench, 2);
      same((await storeOf(bench, 0).purge(ALL)).removed, 1, "rows removed after it");
    },
  },
  {
    name: "purge removes skipped events like successes",
    async check(bench) {
      await apply(bench, await arrivalOf({ windowS: bench.time.tickS }), { outcome: "skipped" });
      await passTicks(bench, 2);
      same((await storeOf(bench, 0).purge(ALL)).removed, 1, "rows removed");
    },
  },
  {
    name: "an event without a window is kept for ever",
    async check(bench) {
      const arrival = await arrivalOf({ windowS: undefined });
      await apply(bench, arrival);
      await passTicks(bench, 3);
      alike(await storeOf(bench, 0).purge(ALL), { removed: 0, more: false }, "purge");
      same((await rowOf(bench, arrival)).keepUntil, undefined, "keepUntil");
    },
  },
  {
    name: "purge removes no more than it may, oldest first, and says whether there is more",
    async check(bench) {
      const oldest = [await arrivedFor(bench, "evt_1", 1), await arrivedFor(bench, "evt_2", 1.1)];
      const newest = await arrivedFor(bench, "evt_3", 1.5);
      await passTicks(bench, 2);
      const store = storeOf(bench, 0);
      alike(await store.purge({ ...ALL, maxRows: 2 }), { removed: 2, more: true }, "the first purge");
      for (const each of oldest) same(await store.read(each), undefined, `read of ${each.id}`);
      same((await store.read(newest))?.outcome, "success", "read of the newest, whose turn it is not");
      alike(await store.purge({ ...ALL, maxRows: 2 }), { removed: 1, more: false }, "the second purge");
    },
  },
  {
    name: "a duplicate that was noted starts the window again",
    async check(bench) {
      const touched = await arrivedFor(bench, "touched", 3);
      const left = await arrivedFor(bench, "left", 3);
      await passTicks(bench, 2);
      storeOf(bench, 0).touch(touched);
      await storeOf(bench, 0).flush();
      await passTicks(bench, 2);
      same((await storeOf(bench, 0).purge(ALL)).removed, 1, "rows removed");
      same(await storeOf(bench, 0).read(left), undefined, "read of the one that was not noted");
      same((await storeOf(bench, 0).find(touched))?.outcome, "success", "find of the one that was noted");
      await passTicks(bench, 2);
      same((await storeOf(bench, 0).purge(ALL)).removed, 1, "rows removed after the new window");
    },
  },
  {
    name: "a duplicate that was noted never makes a window shorter",
    async check(bench) {
      const arrival = await arrivedFor(bench, "evt_1", 6);
      const before = await rowOf(bench, arrival);
      storeOf(bench, 0).touch({ ...arrival, windowS: bench.time.tickS });
      await storeOf(bench, 0).flush();
      alike((await rowOf(bench, arrival)).keepUntil, before.keepUntil, "keepUntil after a shorter window");
      const forEver = await arrivalOf({ id: "evt_2", windowS: undefined });
      await apply(bench, forEver);
      storeOf(bench, 0).touch({ ...forEver, windowS: bench.time.tickS });
      await storeOf(bench, 0).flush();
      same((await rowOf(bench, forEver)).keepUntil, undefined, "keepUntil of what is kept for ever");
    },
  },
  {
    name: "a duplicate that was noted is counted as a receipt, at most once a minute",
    async check(bench) {
      const arrival = await arrivedFor(bench, "evt_1", 100);
      for (const touch of ["the first", "the second, within the minute"]) {
        storeOf(bench, 0).touch(arrival);
        await storeOf(bench, 0).flush();
        same((await rowOf(bench, arrival)).receipts, 2, `receipts after ${touch}`);
      }
      await bench.time.pass(61_000);
      storeOf(bench, 1).touch(arrival);
      await storeOf(bench, 1).flush();
      const { receipts, receivedAt, lastReceivedAt } = await rowOf(bench, arrival);
      same(receipts, 3, "receipts after the minute");
      holds(lastReceivedAt > receivedAt, "The time of the last receipt is still that of the first");
    },
  },
  {
    name: "a window of less than two minutes starts again with a duplicate after half of it",
    needs: ["exactTime"],
    async check(bench) {
      const arrival = await arrivalOf({ windowS: 20 });
      await apply(bench, arrival);
      const store = storeOf(bench, 0);
      for (let n = 0; n < 8; n++) {
        await bench.time.pass(10_000);
        store.touch(arrival);
        await store.flush();
        same((await store.purge(ALL)).removed, 0, `rows removed with duplicate ${n + 1}`);
      }
      await bench.time.pass(20_000);
      same((await store.purge(ALL)).removed, 1, "rows removed after the last duplicate's window");
    },
  },
  {
    name: "a duplicate that is noted of an event that failed changes nothing",
    async check(bench) {
      const arrival = await arrivalOf({ windowS: bench.time.tickS });
      await failOnce(bench, arrival);
      await passTicks(bench, 2);
      const before = await rowOf(bench, arrival);
      storeOf(bench, 0).touch(arrival);
      await storeOf(bench, 0).flush();
      alike(await rowOf(bench, arrival), before, "the row");
    },
  },
  {
    name: "an event that failed has no end of its window, which counts from when it is applied",
    async check(bench) {
      const windowS = 3 * bench.time.tickS;
      const arrival = await arrivalOf({ windowS });
      for (const failure of [1, 2]) {
        await failOnce(bench, arrival);
        same((await rowOf(bench, arrival)).keepUntil, undefined, `keepUntil after failure ${failure}`);
        await passTicks(bench, 2);
      }
      await apply(bench, arrival);
      const { lastReceivedAt, keepUntil } = await rowOf(bench, arrival);
      const keptMs = (keepUntil?.getTime() ?? 0) - lastReceivedAt.getTime();
      holds(Math.abs(keptMs - windowS * 1000) < 1000, `It is kept for ${keptMs} ms of ${windowS * 1000}`);
    },
  },
  {
    name: "a duplicate of an unknown event is noted nowhere",
    async check(bench) {
      const arrival = await arrivalOf();
      storeOf(bench, 0).touch(arrival);
      await storeOf(bench, 0).flush();
      same(await storeOf(bench, 0).read(arrival), undefined, "read");
      await apply(bench, arrival);
    },
  },
  {
    name: "a row may be removed at the very moment its window has passed, and no millisecond before",
    needs: ["exactTime"],
    async check(bench) {
      await apply(bench, await arrivalOf({ windowS: 1.5 }));
      await bench.time.pass(1499);
      same((await storeOf(bench, 0).purge(ALL)).removed, 0, "rows removed at 1,499 of 1,500 ms");
      await bench.time.pass(1);
      same((await storeOf(bench, 0).purge(ALL)).removed, 1, "rows removed at 1,500 of 1,500 ms");
    },
  },
];

async function arrivedFor(bench: InboxBench, id: string, ticks: number): Promise<Arrival> {
  const arrival = await arrivalOf({ id, windowS: ticks * bench.time.tickS });
  await apply(bench, arrival);
  return arrival;
}
