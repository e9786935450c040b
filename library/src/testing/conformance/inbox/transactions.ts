import { alike, holds, print, same } from "../expectation.js";
import type { InboxPledge } from "./harness.js";
import { accept, apply, arrivalOf, failOnce, storeOf, timesWritten, whileApplying } from "./harness.js";

export const inboxTransactions: readonly InboxPledge[] = [
  {
    name: "what the handler wrote is committed together with the event's row",
    needs: ["sharesHostTransaction"],
    async check(bench) {
      const arrival = await arrivalOf();
      await apply(bench, arrival, { mark: "write" });
      same(await timesWritten(bench, "write"), 1, "writes of the handler");
      same((await storeOf(bench, 1).find(arrival))?.outcome, "success", "the known outcome");
    },
  },
  {
    name: "what the handler wrote is gone when it throws",
    needs: ["sharesHostTransaction"],
    async check(bench) {
      const acceptance = await accept(bench, await arrivalOf(), { mark: "write", throws: new Error("no") });
      same(acceptance.kind, "failed", "accept");
      alike(await bench.written(), [], "what is written");
    },
  },
  {
    name: "what the handler wrote is not seen before its event is known",
    needs: ["sharesHostTransaction", "awaitingHandlers", "manyConnections"],
    async check(bench) {
      const arrival = await arrivalOf();
      let handlerPassed = false;
      const pause = async (): Promise<void> => {
        same(await timesWritten(bench, "write"), 0, "writes before the commit");
        handlerPassed = true;
      };
      const acceptance = await accept(bench, arrival, { mark: "write", pause });
      holds(handlerPassed, `The accept came to ${print(acceptance)}: the write was seen before the commit`);
      same(await timesWritten(bench, "write"), 1, "writes after the commit");
    },
  },
  {
    name: "a handler that runs again after a failure has written once in the end",
    needs: ["sharesHostTransaction"],
    async check(bench) {
      const arrival = await arrivalOf();
      await accept(bench, arrival, { mark: "write", throws: new Error("no") });
      await storeOf(bench, 0).fail(arrival, "no");
      await apply(bench, arrival, { mark: "write" });
      await accept(bench, arrival, { mark: "write" });
      same(await timesWritten(bench, "write"), 1, "writes of the handler");
    },
  },
  {
    name: "no handler runs for a duplicate or a conflict",
    async check(bench) {
      const arrival = await arrivalOf();
      const other = await arrivalOf({ body: new Uint8Array([1]) });
      await apply(bench, arrival);
      same((await accept(bench, arrival, { mark: "write" })).kind, "duplicate", "the second accept");
      same((await accept(bench, other, { mark: "write" })).kind, "conflict", "an accept of another body");
      alike(await bench.written(), [], "what is written");
    },
  },
  {
    name: "a handler that is still running when the signal aborts is rolled back, and its event is free again",
    needs: ["sharesHostTransaction", "awaitingHandlers"],
    async check(bench) {
      const arrival = await arrivalOf();
      const deadline = new AbortController();
      const late = new Error("the deadline has passed");
      const pause = (): Promise<void> => {
        deadline.abort(late);
        return new Promise(() => undefined);
      };
      const cut = await accept(bench, arrival, { mark: "write", pause, signal: deadline.signal });
      holds(cut.kind === "failed", `The accept came to ${print(cut)}, not to failed`);
      alike(await bench.written(), [], "what is written");
      same(await storeOf(bench, 0).find(arrival), undefined, "find");
      await apply(bench, arrival, { mark: "write" });
      same(await timesWritten(bench, "write"), 1, "writes of the handler that ran again");
    },
  },
  {
    name: "a failure of one event touches no other that is being applied",
    needs: ["sharesHostTransaction", "awaitingHandlers", "manyConnections"],
    async check(bench) {
      const slow = await whileApplying(bench, await arrivalOf({ id: "slow" }), async () => {
        await failOnce(bench, await arrivalOf({ id: "failing" }));
      });
      same(slow.kind, "applied", "the accept beside the failure");
    },
  },
];
