import type { Arrival } from "../../../inbox/inbox-store.js";
import { alike, holds, print, same } from "../expectation.js";
import type { InboxBench, InboxPledge, Step } from "./harness.js";
import { accept, apply, arrivalOf, storeOf, timesWritten } from "./harness.js";

// What an ORM's `transaction()` sends on a client that was handed to it, and what a `catch` around a query hides. Whether a
// store refuses the statement, or bears it, is its own affair: the event and its writes must be there together, or not at all.

const MARK = "write";
const WRITE: Step = { write: MARK };

export const inboxHandlerStatements: readonly InboxPledge[] = [
  {
    name: "a handler that commits by itself and then throws has written nothing, and its event is not known",
    needs: ["sharesHostTransaction", "handlerStatements"],
    async check(bench) {
      const arrival = await arrivalOf();
      const steps: Step[] = [WRITE, { run: "begin" }, WRITE, { run: "commit" }];
      const acceptance = await accept(bench, arrival, { steps, throws: new Error("no") });
      same(acceptance.kind, "failed", "accept");
      alike(await bench.written(), [], "what is written");
      same(await storeOf(bench, 1).find(arrival), undefined, "find");
      await apply(bench, arrival, { mark: MARK });
      same(await timesWritten(bench, MARK), 1, "writes of the handler that ran again");
    },
  },
  {
    name: "what a handler writes after a rollback of its own is there with its event, or not at all",
    needs: ["sharesHostTransaction", "handlerStatements"],
    check: (bench) => togetherOrNot(bench, [{ run: "rollback" }, WRITE]),
  },
  {
    name: "what a handler writes in a transaction that it began itself is there with its event, or not at all",
    needs: ["sharesHostTransaction", "handlerStatements"],
    async check(bench) {
      await togetherOrNot(bench, [{ run: "rollback" }, { run: "begin" }, WRITE]);
      await togetherOrNot(bench, [{ run: "commit" }, { run: "begin" }, WRITE]);
    },
  },
  {
    name: "what a handler that swallows the error of a statement has written is there with its event, or not at all",
    needs: ["sharesHostTransaction", "handlerStatements"],
    check: (bench) => togetherOrNot(bench, [WRITE, { run: "broken" }]),
  },
];

let made = 0;

/** Delivers three times with a handler of these steps, then with one that is sound. */
async function togetherOrNot(bench: InboxBench, steps: readonly Step[]): Promise<void> {
  const arrival = await arrivalOf({ id: `evt_steps_${++made}` });
  const before = await timesWritten(bench, MARK);
  for (const delivery of [1, 2, 3]) {
    const { kind } = await accept(bench, arrival, { steps, at: delivery });
    holds(["applied", "duplicate", "failed"].includes(kind), `Delivery ${delivery} came to ${kind}`);
    const told = kind === "failed" ? 0 : 1;
    await found(bench, arrival, { delivery, writes: (await timesWritten(bench, MARK)) - before, told });
  }
  const sound = await accept(bench, arrival, { mark: MARK });
  holds(["applied", "duplicate"].includes(sound.kind), `A sound delivery came to ${print(sound)}`);
  same((await timesWritten(bench, MARK)) - before, 1, "writes in the end");
}

async function found(
  bench: InboxBench,
  arrival: Arrival,
  { delivery, writes, told }: { readonly delivery: number; readonly writes: number; readonly told: number },
): Promise<void> {
  same(writes, told, `writes after delivery ${delivery}`);
  const known = await storeOf(bench, 0).find(arrival);
  same(known?.outcome, told === 1 ? "success" : undefined, `the known outcome after delivery ${delivery}`);
}
