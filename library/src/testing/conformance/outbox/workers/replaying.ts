import type { Handled } from "../../../../inbox/inbox-store.js";
import type { InboxRecord } from "../../../../operator/inbox-view-store.js";
import type { StagedAgain } from "../../../../operator/replay-store.js";
import { alike, same, soon } from "../../expectation.js";
import { A, B, register, store } from "./handlers.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import { applied, appliedRun, handle, limitsOf } from "./inbox-views.js";
import {
  acknowledge,
  claimOne,
  claimsNothing,
  kill,
  listAll,
  outboxOf,
  passLease,
  publish,
  runOf,
  sequenceAll,
  settled,
} from "../steps.js";

const SUCCESS: Handled = { outcome: "success" };

/** How events are handled again, and forgotten. */
export const outboxReplaying: readonly OutboxPledge[] = [
  {
    name: "what was applied is replayed in a new round, and applied once in it",
    async check(bench) {
      await register(bench, {});
      await applied(bench, "e1");
      same(await again(bench, "replay", "e1"), "staged", "the replay");
      alike(await rowOf(bench, "e1"), ["pending", 2, true], "its row then");
      await sequenceAll(bench);
      same(await handle(bench, SUCCESS), "applied", "its handler");
      alike(await rowOf(bench, "e1"), ["success", 2, false], "its row after it");
      await claimsNothing(bench, "after it was replayed", { of: A });
    },
  },
  {
    name: "a replay of another round than the present one changes nothing",
    async check(bench) {
      await register(bench, {});
      await applied(bench, "e1");
      same(await again(bench, "replay", "e1", 1), "staged", "the first");
      same(await again(bench, "replay", "e1", 1), "before", "the same again");
      same(await again(bench, "replay", "e1"), "not_applied", "while it is pending");
      await sequenceAll(bench);
      await handle(bench, SUCCESS);
      await claimsNothing(bench, "after one replay", { of: A });
    },
  },
  {
    name: "what is replayed twice in the lane is applied once in its round",
    async check(bench) {
      await register(bench, {});
      await store(bench, ["e1"]);
      await handle(bench, SUCCESS);
      await again(bench, "replay", "e1");
      same(await again(bench, "redrive", "e1"), "staged", "a redrive of what is pending");
      await sequenceAll(bench);
      same(await handle(bench, SUCCESS), "applied", "the first");
      same(await handle(bench, SUCCESS), "duplicate", "the second");
    },
  },
  {
    name: "what was skipped is redriven in its round; what was applied is not",
    async check(bench) {
      await register(bench, {});
      await applied(bench, "e1", { outcome: "skipped" });
      same(await again(bench, "replay", "e1"), "not_applied", "a replay of it");
      same(await again(bench, "redrive", "e1"), "staged", "its redrive");
      await sequenceAll(bench);
      same(await handle(bench, SUCCESS), "applied", "its handler");
      alike(await rowOf(bench, "e1"), ["success", 1, false], "its row");
      same(await again(bench, "redrive", "e1"), "applied", "a redrive after it");
      same(await again(bench, "redrive", "none"), "unknown", "a redrive of nothing");
    },
  },
  {
    name: "a replay goes to its consumer alone, at the end of its lane",
    async check(bench) {
      await register(bench, {}, { id: "hnd_b" });
      await store(bench, ["e1", "e2"]);
      for (const of of [A, B]) for (let n = 0; n < 2; n++) await handle(bench, SUCCESS, of);
      await store(bench, ["e3"]);
      const wanted = ["e2", "e1"].map((id) =>
        Object.assign(addressOf(id), { consumer: "b", verb: "replay" as const }),
      );
      alike(await outboxOf(bench).stageAgain(wanted), ["staged", "staged"], "the replays");
      await sequenceAll(bench);
      const claimed = await claimOne(bench, { of: B, run: { maxEvents: 8, maxBytes: 1_048_576 } });
      alike(
        claimed.run.map(({ event }) => event.id),
        ["e3", "e2", "e1"],
        "the lane of its consumer",
      );
      const other = await claimOne(bench, { of: A, run: { maxEvents: 8, maxBytes: 1_048_576 } });
      alike(
        other.run.map(({ event }) => event.id),
        ["e3"],
        "the lane of the other",
      );
    },
  },
  {
    name: "a run that is replayed in the order of its rows is handled in the order in which it was",
    async check(bench) {
      await register(bench, {});
      await appliedRun(bench, ["9z", "5m", "1a", "7q"]);
      const outbox = outboxOf(bench);
      const rows = await listAll((page) => outbox.inboxRows({ order: "oldest" }, page), 3);
      const wanted = rows.map((row) => Object.assign({}, row, { verb: "replay" as const }));
      alike(new Set(await outbox.stageAgain(wanted)), new Set(["staged"]), "the replay");
      await sequenceAll(bench);
      const claimed = await claimOne(bench, { of: A, run: { maxEvents: 8, maxBytes: 1_048_576 } });
      same(runOf(claimed), "9z 5m 1a 7q", "its run");
    },
  },
  {
    name: "an event without a stored one, or without a handler, is not handled again",
    async check(bench) {
      await register(bench, {});
      await applied(bench, "e1");
      alike(
        await outboxOf(bench).stageAgain([{ ...addressOf("e1"), consumer: "gone", verb: "replay" }]),
        ["unknown"],
        "at a consumer that never had it",
      );
      same(await again(bench, "replay", "e1"), "staged", "the replay");
    },
  },
  {
    name: "an event that is forgotten is new when it comes again",
    async check(bench) {
      await register(bench, {}, { id: "hnd_b" });
      await applied(bench, "e1");
      await applied(bench, "e1", { of: B });
      const outbox = outboxOf(bench);
      alike(
        await outbox.forgetEvent("default", "stripe", "e1"),
        { kind: "forgotten", rows: 2, names: 1 },
        "forget",
      );
      alike(await outbox.inboxRowsOf("default", "stripe", "e1"), [], "its rows");
      alike(await outbox.forgetEvent("default", "stripe", "e1"), { kind: "unknown" }, "forget once more");
      await store(bench, ["e1"]);
      same(await handle(bench, SUCCESS), "applied", "its handler");
    },
  },
  {
    name: "the steps of an event that is forgotten are new when it comes again, in round 1",
    async check(bench) {
      await register(bench, {});
      await applied(bench, "e1");
      await again(bench, "replay", "e1");
      await sequenceAll(bench);
      await handle(bench, SUCCESS);
      const outbox = outboxOf(bench);
      const event = { tenant: "default", source: "stripe", id: "e1" };
      const step = { ...event, consumer: "a", step: "charge" };
      for (const round of [1, 2]) await outbox.beginStep({ ...step, round }, "e1");
      await outbox.beginStep({ ...step, id: "e10", round: 1 }, "e10");
      same((await outbox.forgetEvent("default", "stripe", "e1")).kind, "forgotten", "forget");
      alike(await outbox.roundOf(event, "a"), { round: 1, outcome: undefined }, "its round");
      for (const round of [1, 2])
        alike(await outbox.beginStep({ ...step, round }, "e1"), { kind: "new" }, `a step of round ${round}`);
      const other = await outbox.beginStep({ ...step, id: "e10", round: 1 }, "e10");
      alike(other, { kind: "begun" }, "a step of another event");
    },
  },
  {
    name: "an event that a worker has leased is not forgotten, with a lane and without one",
    async check(bench) {
      await register(bench, {});
      for (const [id, key] of [
        ["e1", "k"],
        ["n1", undefined],
      ] as const) {
        await store(bench, [id], { key });
        const claimed = await claimOne(bench, { of: A });
        alike(await outboxOf(bench, 1).forgetEvent("default", "stripe", id), { kind: "busy" }, "forget");
        await settled(bench, claimed, {});
        const after = await outboxOf(bench, 1).forgetEvent("default", "stripe", id);
        alike(after, { kind: "forgotten", rows: 0, names: 1 }, "forget when it was given back");
        await acknowledge(bench, await claimOne(bench, { of: A }));
      }
    },
  },
  {
    name: "an event is not forgotten while its first handler runs, though its lease has ended",
    needs: ["awaitingHandlers", "manyConnections"],
    async check(bench) {
      await register(bench, {}, { id: "hnd_b" });
      const outbox = outboxOf(bench, 1);
      for (const of of [A, B]) {
        if (of === A) await store(bench, ["e1"]);
        const claimed = await claimOne(bench, { of });
        await passLease(bench);
        const during = async (): Promise<readonly Handled[]> => {
          const asked = outbox.forgetEvent("default", "stripe", "e1");
          alike(await soon(asked, "forget", bench.patienceMs), { kind: "busy" }, "forget beside a handler");
          return [SUCCESS];
        };
        const ran = await outboxOf(bench).apply(claimed, during, limitsOf(bench));
        same(ran.kind, "applied", "its handler");
      }
      same((await outbox.forgetEvent("default", "stripe", "e1")).kind, "forgotten", "forget after them");
    },
  },
  {
    name: "an event that is to be handled again is not forgotten before it was",
    async check(bench) {
      await register(bench, {});
      await applied(bench, "e1");
      await again(bench, "replay", "e1");
      alike(await outboxOf(bench).forgetEvent("default", "stripe", "e1"), { kind: "pending" }, "forget");
      alike(await rowOf(bench, "e1"), ["pending", 2, true], "its row");
    },
  },
  {
    name: "a row that is called applied in its round is applied by nobody after that",
    async check(bench) {
      await register(bench, {});
      await applied(bench, "e1");
      await again(bench, "replay", "e1");
      const outbox = outboxOf(bench);
      same(await outbox.markApplied({ ...addressOf("e1"), round: 1 }), false, "in another round");
      same(await outbox.markApplied({ ...addressOf("e1"), round: 2 }), true, "in its round");
      same(await outbox.markApplied({ ...addressOf("e1"), round: 2 }), false, "once more");
      await sequenceAll(bench);
      same(await handle(bench, SUCCESS), "duplicate", "its handler");
      alike(await rowOf(bench, "e1"), ["success", 2, false], "its row");
    },
  },
  {
    name: "a stored event that has no row at a consumer is told, whether it waits or died; one that has a row, or was published, is not",
    async check(bench) {
      await register(bench, {}, { id: "hnd_b" });
      await store(bench, ["e1", "e2"]);
      await handle(bench, SUCCESS);
      await kill(bench, await claimOne(bench, { of: A }), "skip");
      await store(bench, ["e3"]);
      await publish(bench, ["p1"]);
      const ids = ["e3", "e1", "p1", "none", "e2"];
      const told = async (consumer: string): Promise<string> =>
        (await outboxOf(bench, 1).unhandled("default", ids, consumer)).map(({ id }) => id).join(" ");
      same(await told("a"), "e3 e2", "those without a row at the one that has applied one");
      same(await told("b"), "e3 e1 e2", "those without a row at the other");
      alike(await outboxOf(bench).unhandled("other", ids, "a"), [], "of another tenant");
      const [first] = await outboxOf(bench).unhandled("default", ["e3"], "b");
      alike(
        [first?.eventId, first?.source, first?.type, first?.eventAt?.getTime()],
        ["e3", "stripe", "order.paid", Date.UTC(2029, 11, 31)],
        "the first",
      );
    },
  },
  {
    name: "a stored event that is called applied at a consumer is a duplicate there, when it waits and when it is redriven",
    async check(bench) {
      await register(bench, {});
      await store(bench, ["e1"], { key: "k1" });
      const dead = await claimOne(bench, { of: A });
      await kill(bench, dead);
      const [letter] = (await outboxOf(bench).deadLetters({ limit: 10 })).items;
      await store(bench, ["e2"], { key: "k2" });
      const mark = (id: string): Promise<boolean> => outboxOf(bench, 1).markStored("default", id, "a");
      alike([await mark("e1"), await mark("e2"), await mark("none")], [true, true, false], "markStored");
      same(await mark("e1"), false, "once more");
      same(await handle(bench, SUCCESS), "duplicate", "the handler of the one that waited");
      await outboxOf(bench).redrive(letter?.id ?? "");
      await sequenceAll(bench);
      same(await handle(bench, SUCCESS), "duplicate", "the handler of the one that was redriven");
      alike(
        await rowOf(bench, "e1"),
        ["success", 1, true],
        "its row, which is kept for as long as its dead letter may be",
      );
    },
  },
];

function addressOf(id: string) {
  return { tenant: "default", source: "stripe", id, consumer: "a" };
}

async function again(
  bench: OutboxBench,
  verb: "redrive" | "replay",
  id: string,
  round?: number,
): Promise<StagedAgain | undefined> {
  return (await outboxOf(bench).stageAgain([{ ...addressOf(id), verb, round }]))[0];
}

/** Its outcome, its round, and whether it is kept for ever. */
async function rowOf(bench: OutboxBench, id: string): Promise<readonly unknown[]> {
  const [row] = await outboxOf(bench, 1).inboxRowsOf("default", "stripe", id);
  const { outcome, round, keepUntil } = row as InboxRecord;
  return [outcome, round, keepUntil === undefined];
}
