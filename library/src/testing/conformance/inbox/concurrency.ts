import type { Acceptance, Arrival } from "../../../inbox/inbox-store.js";
import { holds, print, same } from "../expectation.js";
import type { InboxBench, InboxPledge } from "./harness.js";
import { accept, apply, arrivalOf, failOnce, storeOf, timesWritten, whileApplying } from "./harness.js";

const DELIVERIES = 12;

export const inboxConcurrency: readonly InboxPledge[] = [
  {
    name: "of all concurrent deliveries of one event, exactly one is applied",
    async check(bench) {
      for (let round = 0; round < 5; round++) {
        const mark = `evt_${round}`;
        await oneApplied(bench, await arrivalOf({ id: mark }), mark);
      }
    },
  },
  {
    name: "a row that says failed is taken over by exactly one of all concurrent deliveries",
    async check(bench) {
      for (let round = 0; round < 5; round++) {
        const mark = `evt_${round}`;
        const arrival = await arrivalOf({ id: mark });
        await failOnce(bench, arrival);
        await oneApplied(bench, arrival, mark);
      }
    },
  },
  {
    name: "concurrent deliveries of many events apply each of them once",
    async check(bench) {
      const ids = Array.from({ length: 20 }, (_, n) => `evt_${n}`);
      const deliveries = [...ids, ...ids.toReversed()].map(async (id, at) =>
        accept(bench, await arrivalOf({ id }), { at, mark: id }),
      );
      for (const acceptance of await Promise.all(deliveries)) sound(acceptance);
      for (const id of ids) same(await timesWritten(bench, id), 1, `writes of ${id}'s handler`);
    },
  },
  {
    name: "a delivery of an event that is being applied is told busy at once",
    needs: ["awaitingHandlers", "manyConnections"],
    async check(bench) {
      const arrival = await arrivalOf();
      const slow = await whileApplying(bench, arrival, async () => {
        // Ten, not one: a store that lets them wait on its connections has none left for the last.
        const others = Array.from({ length: 10 }, (_, at) => accept(bench, arrival, { at, mark: "again" }));
        for (const { kind } of await Promise.all(others)) same(kind, "busy", "an accept beside the slow one");
      });
      same(slow.kind, "applied", "the slow accept");
      same((await accept(bench, arrival)).kind, "duplicate", "an accept after the slow one");
      same(await timesWritten(bench, "again"), 0, "writes of handlers that must not run");
    },
  },
  {
    name: "an event that is being applied is not known yet",
    needs: ["awaitingHandlers", "manyConnections"],
    async check(bench) {
      const arrival = await arrivalOf();
      await whileApplying(bench, arrival, async () => {
        same(await storeOf(bench, 0).find(arrival), undefined, "find beside the slow accept");
        same(await storeOf(bench, 1).read(arrival), undefined, "read beside the slow accept");
      });
      same((await storeOf(bench, 1).find(arrival))?.outcome, "success", "find after the slow accept");
    },
  },
  {
    name: "an event that is being applied keeps no other event waiting",
    needs: ["awaitingHandlers", "manyConnections"],
    async check(bench) {
      const slow = await whileApplying(bench, await arrivalOf({ id: "slow" }), async () => {
        const ids = Array.from({ length: 10 }, (_, n) => `evt_${n}`);
        await Promise.all(ids.map(async (id) => apply(bench, await arrivalOf({ id }))));
      });
      same(slow.kind, "applied", "the slow accept");
    },
  },
  {
    name: "when the delivery that was applying fails, the next one is applied",
    needs: ["awaitingHandlers", "manyConnections"],
    async check(bench) {
      const arrival = await arrivalOf();
      const beside = async (): Promise<void> => {
        same((await accept(bench, arrival, { at: 1 })).kind, "busy", "an accept beside the slow one");
      };
      same((await whileApplying(bench, arrival, beside, new Error("no"))).kind, "failed", "the slow accept");
      await apply(bench, arrival);
    },
  },
];

async function oneApplied(bench: InboxBench, arrival: Arrival, mark: string): Promise<void> {
  const deliveries = Array.from({ length: DELIVERIES }, (_, at) => accept(bench, arrival, { at, mark }));
  const acceptances = await Promise.all(deliveries);
  const applied = acceptances.filter(({ kind }) => kind === "applied").length;
  same(applied, 1, `deliveries of ${DELIVERIES} that were applied`);
  for (const acceptance of acceptances) sound(acceptance);
  same(await timesWritten(bench, mark), 1, "writes of the handler");
}

// The losers learn the truth, or that it is not known yet; a failure would be counted against the event.
function sound(acceptance: Acceptance): void {
  const fine = ["applied", "duplicate", "busy"].includes(acceptance.kind);
  holds(fine, `A concurrent delivery came to ${print(acceptance)}`);
}
