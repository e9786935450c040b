import { utf8 } from "../../../bytes.js";
import { alike, same, sameBytes } from "../expectation.js";
import type { InboxPledge } from "./harness.js";
import { accept, apply, arrivalOf, failOnce, rowOf, storeOf } from "./harness.js";

export const inboxFailures: readonly InboxPledge[] = [
  {
    name: "a failure is recorded with its attempt's number",
    async check(bench) {
      const arrival = await arrivalOf();
      for (const attempts of [1, 2, 3]) {
        await failOnce(bench, arrival, `failure ${attempts}`);
        const { outcome, error, ...row } = await rowOf(bench, arrival);
        const promised = { outcome: "failed", attempts, error: `failure ${attempts}` };
        alike({ outcome, attempts: row.attempts, error }, promised, "the row");
      }
      same((await storeOf(bench, 1).find(arrival))?.outcome, "failed", "the known outcome");
    },
  },
  {
    name: "a row that says failed is taken over, and attempts go on counting",
    async check(bench) {
      const arrival = await arrivalOf();
      await failOnce(bench, arrival);
      await failOnce(bench, arrival);
      alike(await accept(bench, arrival, { at: 1 }), { kind: "applied", attempt: 3 }, "accept");
      const { outcome, attempts } = await rowOf(bench, arrival);
      alike({ outcome, attempts }, { outcome: "success", attempts: 3 }, "the row");
      same((await accept(bench, arrival)).kind, "duplicate", "the next accept");
    },
  },
  {
    name: "a row that says failed is taken over whatever its body, because nothing of it was applied",
    async check(bench) {
      const arrival = await arrivalOf();
      const mended = await arrivalOf({ body: utf8("mended"), type: "invoice.mended" });
      await failOnce(bench, arrival);
      await apply(bench, mended);
      const row = await rowOf(bench, mended);
      sameBytes(row.body, mended.body, "the body of the row");
      sameBytes(row.bodyHash, mended.bodyHash, "the hash of the row");
      same(row.type, "invoice.mended", "the type of the row");
      same((await accept(bench, arrival)).kind, "conflict", "an accept of the body that failed");
    },
  },
  {
    name: "a failure keeps the key of its event, and so does the next one",
    async check(bench) {
      const arrival = await arrivalOf();
      for (const key of ["order 7", undefined, 'ключ "8"\\']) {
        await failOnce(bench, { ...arrival, key });
        same((await rowOf(bench, arrival)).key, key, "the key of the row");
      }
    },
  },
  {
    name: "a failure that comes after another delivery's success changes nothing",
    async check(bench) {
      const arrival = await arrivalOf();
      await apply(bench, arrival);
      await storeOf(bench, 1).fail(arrival, "too late");
      const { outcome, attempts } = await rowOf(bench, arrival);
      alike({ outcome, attempts }, { outcome: "success", attempts: 1 }, "the row");
    },
  },
  {
    name: "a failure of an event that was skipped before is recorded, and the event has no end of its window",
    async check(bench) {
      const arrival = await arrivalOf();
      await apply(bench, arrival, { outcome: "skipped" });
      await failOnce(bench, arrival, "its first handler");
      const { outcome, attempts, error, keepUntil } = await rowOf(bench, arrival);
      const promised = { outcome: "failed", attempts: 2, error: "its first handler", keepUntil: undefined };
      alike({ outcome, attempts, error, keepUntil }, promised, "the row");
      alike(await accept(bench, arrival), { kind: "applied", attempt: 3 }, "the next accept");
    },
  },
  {
    name: "a failed takeover leaves the row as it was",
    async check(bench) {
      const arrival = await arrivalOf();
      await failOnce(bench, arrival, "first");
      const second = await accept(bench, arrival, { throws: new Error("second") });
      same(second.kind, "failed", "the takeover");
      const { outcome, attempts, error } = await rowOf(bench, arrival);
      alike({ outcome, attempts, error }, { outcome: "failed", attempts: 1, error: "first" }, "the row");
    },
  },
];
