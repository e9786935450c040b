import { utf8 } from "../../../bytes.js";
import { alike, holds, print, same, sameBytes } from "../expectation.js";
import type { InboxPledge } from "./harness.js";
import { accept, apply, arrivalOf, rowOf, storeOf } from "./harness.js";

export const inboxContract: readonly InboxPledge[] = [
  {
    name: "an event that never arrived is not known",
    async check(bench) {
      const arrival = await arrivalOf();
      same(await storeOf(bench, 0).find(arrival), undefined, "find");
      same(await storeOf(bench, 0).read(arrival), undefined, "read");
    },
  },
  {
    name: "an event is applied and known as a success",
    async check(bench) {
      const arrival = await arrivalOf();
      alike(await accept(bench, arrival), { kind: "applied", attempt: 1 }, "accept");
      const known = await storeOf(bench, 1).find(arrival);
      same(known?.outcome, "success", "the known outcome");
      sameBytes(known?.bodyHash, arrival.bodyHash, "the known hash of the body");
      const { attempts, receipts } = await rowOf(bench, arrival);
      alike({ attempts, receipts }, { attempts: 1, receipts: 1 }, "the row");
    },
  },
  {
    name: "an event accepted twice is handled once, and the second time is a duplicate",
    async check(bench) {
      const arrival = await arrivalOf();
      await apply(bench, arrival);
      const second = await accept(bench, arrival, { at: 1, throws: new Error("the handler ran again") });
      holds(second.kind === "duplicate", `The second accept came to ${print(second)}, not to duplicate`);
      same(second.known.outcome, "success", "what is told of the first");
      same((await rowOf(bench, arrival)).attempts, 1, "attempts");
    },
  },
  {
    name: "an event that nobody handles is remembered as skipped",
    async check(bench) {
      const arrival = await arrivalOf();
      await apply(bench, arrival, { outcome: "skipped" });
      same((await storeOf(bench, 0).find(arrival))?.outcome, "skipped", "the known outcome");
    },
  },
  {
    name: "why an event was skipped is kept with it, and an event that is skipped without a reason keeps its last failure",
    async check(bench) {
      const [arrival, failed] = [await arrivalOf(), await arrivalOf({ id: "evt_failed" })];
      await apply(bench, arrival, { outcome: "skipped", because: "not ours \0 é" });
      const { outcome, error } = await rowOf(bench, arrival);
      same(outcome, "skipped", "the outcome");
      holds(error?.startsWith("not ours ") === true && error.endsWith("é"), `The reason is ${print(error)}`);
      await storeOf(bench, 0).fail(failed, "the first failure");
      await apply(bench, failed, { outcome: "skipped" });
      same((await rowOf(bench, failed)).error, "the first failure", "what is kept of the other");
    },
  },
  {
    name: "a row that says skipped is taken over whatever its body, because nothing of it was applied",
    async check(bench) {
      const arrival = await arrivalOf();
      const other = await arrivalOf({ body: utf8("other") });
      await apply(bench, arrival, { outcome: "skipped" });
      alike(await accept(bench, other, { at: 1 }), { kind: "applied", attempt: 2 }, "accept");
      const row = await rowOf(bench, other);
      alike({ outcome: row.outcome, attempts: row.attempts }, { outcome: "success", attempts: 2 }, "the row");
      sameBytes(row.body, other.body, "the body of the row");
      same((await accept(bench, other)).kind, "duplicate", "the next accept");
    },
  },
  {
    name: "the same id from another source or tenant is another event",
    async check(bench) {
      const others = [{}, { source: "github" }, { tenant: "acme" }, { tenant: "acme", source: "github" }];
      for (const other of others) await apply(bench, await arrivalOf(other));
      // Joined with a separator, these two would be one.
      await apply(bench, await arrivalOf({ tenant: "a:b", source: "c" }));
      await apply(bench, await arrivalOf({ tenant: "a", source: "b:c" }));
    },
  },
  {
    name: "the same id with another body is a conflict, and is not applied",
    async check(bench) {
      const first = await arrivalOf();
      const other = await arrivalOf({ body: utf8("other") });
      await apply(bench, first);
      const second = await accept(bench, other, { at: 1, throws: new Error("the handler ran") });
      holds(
        second.kind === "conflict",
        `The accept of another body came to ${print(second)}, not to conflict`,
      );
      sameBytes(second.known.bodyHash, first.bodyHash, "the hash that is told of the first");
      sameBytes((await rowOf(bench, first)).body, first.body, "the body of the row");
    },
  },
  {
    name: "a handler that throws leaves nothing behind, and what it threw is handed back",
    async check(bench) {
      for (const throws of [new Error("no"), "a text", undefined, null]) {
        const arrival = await arrivalOf();
        const acceptance = await accept(bench, arrival, { throws });
        holds(acceptance.kind === "failed", `The accept came to ${print(acceptance)}, not to failed`);
        same(acceptance.error, throws, "what was handed back");
        same(await storeOf(bench, 0).read(arrival), undefined, "read");
      }
      await apply(bench, await arrivalOf());
    },
  },
  {
    name: "what the handler returned is kept with the event",
    async check(bench) {
      const results = ['{"id":1}', '"\u{1f4ef} \\u0000 \\ud800"', "null", '{"b":1,"a":2}', undefined];
      for (const [n, result] of results.entries()) {
        const arrival = await arrivalOf({ id: `evt_${n}` });
        await apply(bench, arrival, result === undefined ? {} : { result });
        same((await rowOf(bench, arrival)).result, result, "the result");
      }
    },
  },
];
