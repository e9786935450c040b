import type { StepKey } from "../../../../inbox/handler/step-store.js";
import { alike, same } from "../../expectation.js";
import { A, B, register, store } from "./handlers.js";
import { applied } from "./inbox-views.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import { acknowledge, claimOne, outboxOf, passTicks, ticksMs } from "../steps.js";

const KEY: StepKey = {
  tenant: "default",
  source: "stripe",
  id: "e1",
  consumer: "a",
  round: 1,
  step: "charge",
};

const EVENT = { tenant: "default", source: "stripe", id: "e1" };

/** What the steps of long handlers promise. */
export const outboxLongSteps: readonly OutboxPledge[] = [
  {
    name: "a step is new once, begun until its result is kept, and done from then on; its first result stays",
    async check(bench) {
      const [here, there] = [outboxOf(bench), outboxOf(bench, 1)];
      alike(await here.beginStep(KEY, "e1"), { kind: "new" }, "at first");
      alike(await there.beginStep(KEY, "e1"), { kind: "begun" }, "before its result");
      await here.keepStep(KEY, '{"id":"ä\\u0000"}');
      await there.keepStep(KEY, '"another"');
      alike(await there.beginStep(KEY, "e1"), { kind: "done", result: '{"id":"ä\\u0000"}' }, "after it");
      const empty = { ...KEY, step: "mail" };
      await here.beginStep(empty, "e1");
      await here.keepStep(empty, undefined);
      alike(await here.beginStep(empty, "e1"), { kind: "done", result: undefined }, "without a result");
    },
  },
  {
    name: "steps of other events, consumers, rounds and names are other steps",
    async check(bench) {
      const outbox = outboxOf(bench);
      await outbox.beginStep(KEY, "e1");
      await outbox.keepStep(KEY, "1");
      const others: readonly Partial<StepKey>[] = [
        { tenant: "other" },
        { source: "other" },
        { id: "e2" },
        { consumer: "" },
        { round: 2 },
        { step: "Charge" },
      ];
      for (const other of others) {
        const known = await outbox.beginStep({ ...KEY, ...other }, "e1");
        alike(known, { kind: "new" }, `a step of another ${Object.keys(other).join()}`);
      }
    },
  },
  {
    name: "the round of an event is 1 where nobody has replayed it",
    async check(bench) {
      const outbox = outboxOf(bench);
      same((await outbox.roundOf(EVENT, "a")).round, 1, "its round");
    },
  },
  {
    name: "the round of an event is told with its outcome: none before it was handled",
    async check(bench) {
      await register(bench, {}, { id: "hnd_b" });
      const [here, there] = [outboxOf(bench), outboxOf(bench, 1)];
      alike(await here.roundOf(EVENT, "a"), { round: 1, outcome: undefined }, "before it came");
      await applied(bench, "e1", { outcome: "skipped" });
      alike(await there.roundOf(EVENT, "a"), { round: 1, outcome: "skipped" }, "when it was skipped");
      alike(await here.roundOf(EVENT, "b"), { round: 1, outcome: undefined }, "at the other consumer");
      await applied(bench, "e1", { of: B });
      alike(await there.roundOf(EVENT, "b"), { round: 1, outcome: "success" }, "when it was applied there");
      await here.stageAgain([{ ...EVENT, consumer: "b", verb: "replay" }]);
      alike(await there.roundOf(EVENT, "b"), { round: 2, outcome: "pending" }, "when it is replayed");
    },
  },
  {
    name: "steps are removed with their event, and not before",
    async check(bench) {
      await register(bench, {});
      await store(bench, ["e1"]);
      const outbox = outboxOf(bench);
      await outbox.beginStep(KEY, "e1");
      await outbox.beginStep({ ...KEY, tenant: "other" }, "e1");
      await outbox.keepStep(KEY, "1");
      await passTicks(bench, 3);
      await remove(bench);
      same((await outbox.beginStep(KEY, "e1")).kind, "done", "while its event waits");
      await acknowledge(bench, await claimOne(bench, { of: A }));
      await remove(bench);
      same((await outbox.beginStep(KEY, "e1")).kind, "new", "when its event is gone");
      const other = await outbox.beginStep({ ...KEY, tenant: "other" }, "e1");
      same(other.kind, "begun", "of another tenant's event with that id");
    },
  },
];

async function remove(bench: OutboxBench): Promise<void> {
  await outboxOf(bench).removeOld({
    kind: "events",
    windowMs: ticksMs(bench, 2),
    limit: 100,
    after: undefined,
  });
}
