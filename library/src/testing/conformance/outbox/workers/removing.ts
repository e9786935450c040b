import type { HandlerRemoved } from "../../../../lanes/handler-consumer.js";
import type { Handled } from "../../../../inbox/inbox-store.js";
import type { Claim } from "../../../../lanes/lane-store.js";
import { alike, holds, same } from "../../expectation.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import {
  acknowledge,
  claimOne,
  claimsNothing,
  deliverAll,
  kill,
  LEASE_TICKS,
  outboxOf,
  passTicks,
  sequenceAll,
  ticksMs,
} from "../steps.js";
import { A, B, register, store, storedEvent } from "./handlers.js";

/** What the removal of handlers promises. */
export const outboxRemoving: readonly OutboxPledge[] = [
  {
    name: "a handler that is removed gets nothing more, and what waits for it is no longer there",
    async check(bench) {
      await register(bench, {}, { id: "hnd_b" });
      await store(bench, ["e1", "e2"]);
      await store(bench, ["n1"], { key: undefined });
      same(await remove(bench), "removed", "removeHandler");
      await store(bench, ["e3"]);
      await sequenceAll(bench);
      await claimsNothing(bench, "of a handler that was removed", { of: A });
      alike(await outboxOf(bench, 1).readHandlers(["hnd_a"]), [], "readHandlers");
      alike(
        (await outboxOf(bench).consumers()).map(({ id, waiting }) => `${id} ${waiting}`),
        ["hnd_b 4"],
        "consumers",
      );
      same(
        (await outboxOf(bench).lanes({ endpointId: "hnd_a" }, { limit: 10 })).items.length,
        0,
        "its lanes",
      );
      alike(
        (await deliverAll(bench, { of: B })).split(" ").toSorted(),
        ["e1", "e2", "e3", "n1"],
        "the other",
      );
      same(await remove(bench), "unknown", "removeHandler again");
      same(await remove(bench, { id: "hnd_none" }), "unknown", "removeHandler of one that is not there");
    },
  },
  {
    name: "each delivery of a handler that is removed is recorded as cancelled",
    needs: ["cancelledListing"],
    async check(bench) {
      await register(bench, {});
      await store(bench, ["e1", "e2"]);
      await acknowledge(bench, await claimOne(bench, { of: A }));
      await store(bench, ["n1"], { key: undefined });
      await remove(bench);
      const cancelled = (await bench.cancelled?.()) ?? [];
      alike(
        cancelled.map(({ endpointId, eventId, because }) => `${endpointId} ${eventId} ${because}`).toSorted(),
        ["hnd_a e2 consumer_removed", "hnd_a n1 consumer_removed"],
        "what is cancelled",
      );
    },
  },
  {
    name: "the dead letters of a handler that is removed are resolved, and none of them is redriven",
    async check(bench) {
      await register(bench, {});
      await store(bench, ["e1", "e2"]);
      await kill(bench, await claimOne(bench, { of: A }));
      const [dead] = (await outboxOf(bench).deadLetters({ limit: 10 })).items;
      await remove(bench);
      alike((await outboxOf(bench).deadLetters({ limit: 10 })).items, [], "dead letters");
      alike((await outboxOf(bench).blockedLanes({ limit: 10 })).items, [], "blocked lanes");
      same(await outboxOf(bench).redrive(dead?.id ?? ""), "unknown", "redrive");
    },
  },
  {
    name: "a handler that a worker has said to have within the given time is not removed",
    async check(bench) {
      await register(bench, {});
      await store(bench, ["e1"]);
      same(await remove(bench, { unseenTicks: 1000 * LEASE_TICKS }), "seen", "removeHandler");
      same(await deliverAll(bench, { of: A }), "e1", "what it gets");
    },
  },
  {
    name: "a worker that registers a removed handler makes it anew: it gets what is stored from then on, in lanes of a higher generation",
    async check(bench) {
      await register(bench, { dead: "park" });
      await store(bench, ["e1", "e2"]);
      await outboxOf(bench).pauseHandler("hnd_a", { because: "it is to go" });
      await outboxOf(bench).resumeHandler("hnd_a");
      const before = await claimOne(bench, { of: A });
      await acknowledge(bench, before);
      await outboxOf(bench).pauseHandler("hnd_a", { because: "it is to go" });
      await remove(bench);
      await register(bench, {});
      const [again] = await outboxOf(bench, 1).readHandlers(["hnd_a"]);
      alike([again?.state, again?.versions.length, again?.dead], ["active", 1, undefined], "what it is now");
      await store(bench, ["e3"]);
      const after = await claimOne(bench, { of: A });
      same(after.run[0].event.id, "e3", "what it gets");
      const generations = [before.lane?.generation ?? 0n, after.lane?.generation ?? 0n] as const;
      holds(generations[1] > generations[0], `The generations are ${generations.join(" and ")}`);
    },
  },
  {
    name: "what a handler has applied before its removal is a duplicate after it is registered again",
    async check(bench) {
      await register(bench, {});
      await store(bench, ["e1"]);
      same(await apply(bench, await claimOne(bench, { of: A })), "applied", "its apply");
      await remove(bench);
      await register(bench, {});
      const { receipt } = await storedEvent("e1");
      await store(bench, ["e2"], { receipt });
      same(await apply(bench, await claimOne(bench, { of: A })), "duplicate", "the apply of the same event");
    },
  },
  {
    name: "what a person passed over at a handler is not redriven once it was removed, also where it is registered again",
    async check(bench) {
      await register(bench, {});
      await store(bench, ["e1", "e2"]);
      await sequenceAll(bench);
      const [lane] = (await outboxOf(bench).lanes({ endpointId: "hnd_a" }, { limit: 10 })).items;
      same(await outboxOf(bench).skip(lane?.id ?? 0n, lane?.head ?? 0n), "skipped", "skip");
      const passed = (await outboxOf(bench).deliveriesOf("default", ["e1"]))[0]?.id ?? "";
      await remove(bench);
      await register(bench, {});
      same(await outboxOf(bench).redrive(passed), "unknown", "redrive");
    },
  },
  {
    name: "an event that is to be handled again by a handler that was removed can be forgotten",
    async check(bench) {
      await register(bench, {});
      await store(bench, ["e1"]);
      await apply(bench, await claimOne(bench, { of: A }));
      const address = { tenant: "default", source: "stripe", id: "e1" };
      await outboxOf(bench).stageAgain([{ ...address, consumer: "a", verb: "replay" }]);
      await sequenceAll(bench);
      const forget = () => outboxOf(bench).forgetEvent("default", "stripe", "e1");
      alike(await forget(), { kind: "pending" }, "forget while it waits");
      await remove(bench);
      alike(await forget(), { kind: "forgotten", rows: 1, names: 1 }, "forget");
    },
  },
  {
    name: "a claim of a handler that is removed meanwhile leads to nothing more",
    async check(bench) {
      await register(bench, {});
      await store(bench, ["e1", "e2"]);
      const head = await claimOne(bench, { of: A });
      await remove(bench);
      same(await apply(bench, head), "stale", "its apply");
      await claimsNothing(bench, "of a handler that was removed", { of: A });
    },
  },
];

async function apply(bench: OutboxBench, claimed: Claim): Promise<string> {
  const outbox = outboxOf(bench);
  const handled: readonly Handled[] = [{ outcome: "success" }];
  const limits = {
    acquireMs: 5000,
    signal: new AbortController().signal,
    worker: "worker_1",
    leaseMs: ticksMs(bench, LEASE_TICKS),
    run: { maxEvents: 1, maxBytes: 1_048_576 },
    next: true,
  };
  const work = (): readonly Handled[] | Promise<readonly Handled[]> =>
    outbox.transactions === "synchronous" ? handled : Promise.resolve(handled);
  return (await outbox.apply(claimed, work, limits)).kind;
}

interface Removing {
  readonly id?: string;
  readonly unseenTicks?: number;
}

/** Removes a handler, after its worker has been silent for as long as is asked for. */
async function remove(
  bench: OutboxBench,
  { id = "hnd_a", unseenTicks }: Removing = {},
): Promise<HandlerRemoved> {
  if (unseenTicks === undefined) await passTicks(bench, 2);
  const unseenForMs = ticksMs(bench, unseenTicks ?? 1);
  return outboxOf(bench).removeHandler(id, { unseenForMs, because: "it is called hnd_b now", by: "ada" });
}
