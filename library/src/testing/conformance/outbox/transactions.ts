import { holds, same, soon } from "../expectation.js";
import type { OutboxPledge } from "./harness.js";
import {
  addEndpoint,
  claimsNothing,
  deliverAll,
  eventOf,
  outboxOf,
  publish,
  sequenceAll,
  whileOpen,
  writeInTransaction,
} from "./steps.js";

/** What holds beside an open transaction of the host. */
export const outboxTransactions: readonly OutboxPledge[] = [
  {
    name: "write returns without a promise exactly where transactions are synchronous",
    async check(bench) {
      const outbox = outboxOf(bench);
      const event = await eventOf();
      let answer: unknown;
      await bench.transaction((tx) => (answer = outbox.write([event], tx)));
      same(
        answer instanceof Promise,
        outbox.transactions === "asynchronous",
        "whether write returns a promise",
      );
    },
  },
  {
    name: "an event of an open transaction is given to nobody",
    needs: ["awaitingHandlers", "manyConnections"],
    async check(bench) {
      await addEndpoint(bench);
      await whileOpen(bench, [await eventOf()], async () => {
        await sequenceAll(bench);
        await claimsNothing(bench, "of an open transaction", { at: 1 });
      });
      await sequenceAll(bench);
      same(await deliverAll(bench), "e1", "what is delivered after the commit");
    },
  },
  {
    name: "an event whose transaction commits late is not passed over",
    needs: ["awaitingHandlers", "manyConnections"],
    async check(bench) {
      await addEndpoint(bench);
      await whileOpen(bench, [await eventOf({ id: "late" })], async () => {
        await outboxOf(bench, 1).append([await eventOf({ id: "early" })]);
        await sequenceAll(bench);
        same(await deliverAll(bench), "early", "what is delivered before the commit");
      });
      await sequenceAll(bench);
      same(await deliverAll(bench), "late", "what is delivered after the commit");
    },
  },
  {
    name: "an event in an open transaction lets no other event of its key wait",
    needs: ["manyWriters"],
    async check(bench) {
      await addEndpoint(bench);
      await whileOpen(bench, [await eventOf({ id: "slow" })], async () => {
        const beside = [await eventOf({ id: "append" })];
        await soon(
          outboxOf(bench, 1).append(beside),
          "an append beside an open transaction",
          bench.patienceMs,
        );
        const written = writeInTransaction(bench, [[await eventOf({ id: "write" })]]);
        await soon(written, "a transaction beside an open one", bench.patienceMs);
      });
      await sequenceAll(bench);
      const delivered = (await deliverAll(bench)).split(" ").toSorted().join(" ");
      same(delivered, "append slow write", "what is delivered");
    },
  },
  {
    name: "an endpoint that is added while a transaction is open gets its events, because they are sequenced after it",
    needs: ["awaitingHandlers", "manyConnections"],
    async check(bench) {
      await whileOpen(bench, [await eventOf({ id: "late" })], async () => {
        await addEndpoint(bench);
      });
      await sequenceAll(bench);
      same(await deliverAll(bench), "late", "what is delivered");
    },
  },
  {
    name: "a transaction that rolls back leaves no gap in the sequences of a lane",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const thrown = new Error("rolled back by the case");
      const rolledBack = writeInTransaction(bench, [[await eventOf({ id: "never" })]], thrown);
      same(await rolledBack.catch((error: unknown) => error), thrown, "what the transaction threw");
      await publish(bench, ["e2"]);
      const { claims } = await outboxOf(bench).claim({
        of: { kind: "endpoint" },
        worker: "worker_1",
        limit: 10,
        leaseMs: 60_000,
        inFlight: new Map(),
        run: { maxEvents: 8, maxBytes: 1_048_576 },
        alone: false,
      });
      const [first, second] = claims[0]?.run ?? [];
      holds(first !== undefined && second !== undefined, "The lane gave no run of two");
      same(second.sequence - first.sequence, 1n, "how far the second is from the first");
    },
  },
];
