import type { Handled } from "../../../../inbox/inbox-store.js";
import type { ApplyLimits } from "../../../../inbox/worker/worker-store.js";
import type { Claimable } from "../../../../lanes/lane-store.js";
import type { InboxFilter, InboxRecord } from "../../../../operator/inbox-view-store.js";
import { alike, holds, same } from "../../expectation.js";
import { A, B, register, store } from "./handlers.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import {
  addEndpoint,
  claimOne,
  deliverAll,
  kill,
  LEASE_TICKS,
  listAll,
  outboxOf,
  publish,
  sequenceAll,
  ticksMs,
} from "../steps.js";

/** What an operator sees of an inbox, and of the handlers that its events go to. */
export const outboxInboxViews: readonly OutboxPledge[] = [
  {
    name: "rows of the inbox are listed by the time of their first receipt, newest first, page by page",
    async check(bench) {
      await register(bench, {});
      for (const id of ["e1", "e2", "e3"]) await applied(bench, id);
      const newest = await listAll((page) => outboxOf(bench, 1).inboxRows({}, page), 2);
      alike(
        newest.map(({ id }) => id),
        ["e3", "e2", "e1"],
        "newest first",
      );
      const oldest = await listAll((page) => outboxOf(bench).inboxRows({ order: "oldest" }, page), 1);
      alike(
        oldest.map(({ id }) => id),
        ["e1", "e2", "e3"],
        "oldest first",
      );
    },
  },
  {
    name: "rows of one run are listed in the order in which they were handled, either way, page by page",
    async check(bench) {
      await register(bench, {});
      await appliedRun(bench, ["9z", "5m", "1a", "7q"]);
      for (const limit of [1, 3]) {
        for (const [order, wanted] of [
          ["oldest", ["9z", "5m", "1a", "7q"]],
          ["newest", ["7q", "1a", "5m", "9z"]],
        ] as const) {
          const rows = await listAll((page) => outboxOf(bench, 1).inboxRows({ order }, page), limit);
          alike(
            rows.map(({ id }) => id),
            wanted,
            `${order} first, by ${limit}`,
          );
        }
      }
    },
  },
  {
    name: "rows of the inbox are found by tenant, source, consumer, outcome, type and time",
    async check(bench) {
      await register(bench, {}, { id: "hnd_b", sources: ["github"] });
      await applied(bench, "e1");
      await applied(bench, "t1", { tenant: "other" });
      await applied(bench, "s1", { source: "github", type: "push" });
      await applied(bench, "s1", { of: B });
      await applied(bench, "n1", { outcome: "skipped" });
      const [all] = [await found(bench, {})];
      same(all.length, 5, "how many rows there are");
      alike(await ids(bench, { tenant: "other" }), ["t1"], "by tenant");
      alike(await ids(bench, { source: "github" }), ["s1", "s1"], "by source");
      alike(await ids(bench, { consumer: "b" }), ["s1"], "by consumer");
      alike(await ids(bench, { outcome: "skipped" }), ["n1"], "by outcome");
      alike(await ids(bench, { outcome: "failed" }), [], "by an outcome that none has");
      alike(await ids(bench, { type: "push", consumer: "a" }), ["s1"], "by type and consumer");
      const times = ["e1", "t1"].map((id) => all.find((row) => row.id === id)?.receivedAt.getTime() ?? 0);
      const second = new Date(Math.round(((times[0] ?? 0) + (times[1] ?? 0)) / 2));
      alike((await ids(bench, { since: second })).toSorted(), ["n1", "s1", "s1", "t1"], "since a time");
      alike(await ids(bench, { until: second }), ["e1"], "until a time");
    },
  },
  {
    name: "rows of the inbox are found by the beginning of their ids, in the order of the ids",
    async check(bench) {
      await register(bench, {});
      for (const id of ["in_2", "in_1", "ch_1", "in_10"]) await applied(bench, id);
      await applied(bench, "in_9", { source: "github" });
      const prefix = { tenant: "default", source: "stripe", prefix: "in_" };
      const listed = await listAll((page) => outboxOf(bench).inboxByPrefix(prefix, page), 2);
      alike(
        listed.map(({ id }) => id),
        ["in_1", "in_10", "in_2"],
        "what begins so",
      );
    },
  },
  {
    name: "an event has a row of the inbox for each of its consumers, which names the stored event and the result",
    async check(bench) {
      await register(bench, {}, { id: "hnd_b" });
      await applied(bench, "e1", { result: '"done"' });
      await applied(bench, "e1", { of: B });
      const rows = await outboxOf(bench).inboxRowsOf("default", "stripe", "e1");
      alike(
        rows.map(({ consumer, storedAs, result, round, outcome }) => [
          consumer,
          storedAs,
          result,
          round,
          outcome,
        ]),
        [
          ["a", "e1", '"done"', 1, "success"],
          ["b", "e1", undefined, 1, "success"],
        ],
        "its rows",
      );
      alike(await outboxOf(bench).inboxRowsOf("other", "stripe", "e1"), [], "of another tenant");
    },
  },
  {
    name: "the payload of a handled event is the stored event's: its row tells the size, and 0 once retention has removed it",
    async check(bench) {
      const outbox = outboxOf(bench);
      await register(bench, {});
      await applied(bench, "e1");
      const stored = await outbox.event("default", "e1");
      const bytes = async () =>
        (await outbox.inboxRowsOf("default", "stripe", "e1")).map(({ bodyBytes }) => bodyBytes);
      alike(await bytes(), [stored?.body.length], "the size of what is stored");
      await bench.time.pass(ticksMs(bench, 3));
      const old = { kind: "events", windowMs: ticksMs(bench, 2), limit: 100, after: undefined } as const;
      await outbox.removeOld(old);
      alike([await outbox.event("default", "e1"), await bytes()], [undefined, [0]], "after it was removed");
    },
  },
  {
    name: "consumers say what waits for them, what is dead there, and when a worker was last there",
    async check(bench) {
      alike(await outboxOf(bench).consumers(), [], "before any is registered");
      await register(bench, { types: ["a", "b"] }, { id: "hnd_b", sources: ["github"] });
      const [first] = await outboxOf(bench).consumers();
      await store(bench, ["e1", "e2", "e3"]);
      await kill(bench, await claimOne(bench, { of: A }));
      await bench.time.pass(ticksMs(bench, LEASE_TICKS));
      await register(bench, { types: ["a", "b"] });
      const [a, b] = await outboxOf(bench, 1).consumers();
      alike(
        [a?.id, a?.sources, a?.versions[0]?.sources, a?.versions[0]?.types, a?.state],
        ["hnd_a", ["*"], ["*"], ["a", "b"], "active"],
        "the first",
      );
      alike([a?.waiting, a?.dead, a?.haltedLanes, a?.exact], [3, 1, 1, true], "what waits for it");
      alike([b?.id, b?.waiting, b?.dead, b?.haltedLanes], ["hnd_b", 0, 0, 0], "the other");
      const seen = [first?.seenAt, a?.seenAt].map((at) => at?.getTime() ?? Number.NaN);
      holds((seen[1] ?? 0) >= (seen[0] ?? Infinity), `It was seen at ${seen[0]} and then at ${seen[1]}`);
    },
  },
  {
    name: "what is dead or stuck at a handler is found by the tenant of its event",
    async check(bench) {
      const outbox = outboxOf(bench);
      await register(bench, {});
      for (const tenant of ["default", "other"]) {
        await store(bench, [`e_${tenant}`, `f_${tenant}`], { tenant });
        await kill(bench, await claimOne(bench, { of: A }));
      }
      for (const tenant of ["default", "other"]) {
        const { items } = await outbox.deadLetters({ limit: 10 }, { tenant });
        alike(
          items.map((letter) => [letter.tenant, letter.eventId]),
          [[tenant, `e_${tenant}`]],
          "dead letters",
        );
        const groups = await outbox.deadGroups({ tenant });
        alike(
          groups.map(({ endpointId, count }) => [endpointId, count]),
          [["hnd_a", 1]],
          "groups",
        );
        same((await outbox.deadSummary({ tenant })).count, 1, "how many there are");
        const byKey = await outbox.deadLetters({ limit: 10 }, { tenant, endpointId: "hnd_a", key: "k" });
        alike(
          byKey.items.map(({ eventId }) => eventId),
          [`e_${tenant}`],
          "by the key of their lane",
        );
      }
      alike(await outbox.deadGroups({ tenant: "third" }), [], "groups of a tenant that has none");
      const lanes = (await outbox.lanes({}, { limit: 10 })).items.map(({ tenant }) => tenant);
      alike(lanes.toSorted(), ["default", "other"], "the tenants of lanes");
      const blocked = (await outbox.blockedLanes({ limit: 10 })).items.map(({ tenant }) => tenant);
      alike(blocked.toSorted(), ["default", "other"], "the tenants of blocked lanes");
      alike(await outbox.standings(), [], "standings of endpoints");
    },
  },
  {
    name: "a redrive of a handler's dead letter that was passed over goes to the end of the lane of its tenant",
    async check(bench) {
      await register(bench, {});
      await store(bench, ["e1", "e2"], { tenant: "other" });
      await kill(bench, await claimOne(bench, { of: A }), "skip");
      const { id } = await claimOne(bench, { of: A });
      const [dead] = (await outboxOf(bench).deadLetters({ limit: 1 })).items;
      same(await outboxOf(bench).redrive(dead?.id ?? ""), "at_end", "redrive");
      await sequenceAll(bench);
      alike(
        (await outboxOf(bench).lanes({}, { limit: 10 })).items.map((lane) => lane.id),
        [id],
        "the lanes",
      );
    },
  },
  {
    name: "what was passed over at a handler while it waited is redriven at the end of its lane, once; at an endpoint it is not",
    async check(bench) {
      await register(bench, {});
      await addEndpoint(bench);
      const outbox = outboxOf(bench);
      await store(bench, ["e1", "e2", "e3"]);
      await publish(bench, ["p1"]);
      const lanes = (await outbox.lanes({}, { limit: 10 })).items;
      for (const { id, head } of lanes) same(await outbox.skip(id, head), "skipped", "skip");
      const handlers = lanes.find(({ endpointId }) => endpointId === "hnd_a");
      alike(
        await outbox.cancel(handlers?.id ?? 0n, (handlers?.head ?? 0n) + 1n),
        { kind: "cancelled", count: 1 },
        "cancel",
      );
      const [atEndpoint] = await outbox.deliveriesOf("default", ["p1"]);
      same(await outbox.redrive(atEndpoint?.id ?? ""), "unknown", "a redrive at an endpoint");
      const [first, second] = await outbox.deliveriesOf("default", ["e1", "e2"]);
      alike([first?.state, second?.state], ["cancelled", "cancelled"], "their states");
      same(await outbox.redrive(first?.id ?? ""), "at_end", "redrive");
      same(await outboxOf(bench, 1).redrive(first?.id ?? ""), "unknown", "a second redrive");
      const again = [{ id: second?.id ?? "", round: second?.round ?? 0 }];
      const later = again.map(({ id, round }) => ({ id, round: round + 1 }));
      alike(await outbox.redriveAll(later), ["unknown"], "redrive in another round");
      alike(await outbox.redriveAll(again), ["at_end"], "redrive in its round");
      alike(await outbox.redriveAll(again), ["before"], "the same once more");
      await sequenceAll(bench);
      same(await deliverAll(bench, { of: A }), "e3 e1 e2", "what its handler gets");
    },
  },
  {
    name: "the dead head of a handler's lane that was cancelled with what waits behind it is redriven at the end of its lane, as they are; at an endpoint it is not",
    async check(bench) {
      await register(bench, {});
      await addEndpoint(bench);
      const outbox = outboxOf(bench);
      await store(bench, ["e1", "e2", "e3"]);
      await kill(bench, await claimOne(bench, { of: A }));
      await publish(bench, ["p1"]);
      await kill(bench, await claimOne(bench));
      for (const { id, head, endpointId } of (await outbox.lanes({}, { limit: 10 })).items) {
        const through = endpointId === "hnd_a" ? head + 1n : head;
        alike((await outbox.cancel(id, through)).kind, "cancelled", `cancel at ${endpointId}`);
      }
      alike((await outbox.deadLetters({ limit: 10 })).items, [], "the dead letters");
      const [atEndpoint] = await outbox.deliveriesOf("default", ["p1"]);
      const [head, behind] = await outbox.deliveriesOf("default", ["e1", "e2"]);
      alike([atEndpoint?.state, head?.state, behind?.state], ["dead", "dead", "cancelled"], "their states");
      const wanted = [atEndpoint, head, behind].map((each) => ({ id: each?.id ?? "", round: 1 }));
      same(await outbox.redrive(wanted[0]?.id ?? ""), "unknown", "a redrive at an endpoint");
      alike(await outbox.redriveAll(wanted), ["unknown", "at_end", "at_end"], "redrive in their rounds");
      alike(await outbox.redriveAll(wanted), ["unknown", "before", "before"], "the same once more");
      same(await outboxOf(bench, 1).redrive(wanted[1]?.id ?? ""), "unknown", "a second redrive");
      await sequenceAll(bench);
      same(await deliverAll(bench, { of: A }), "e3 e1 e2", "what its handler gets");
    },
  },
  {
    name: "a delivery to a handler is one of its event's, also without a lane, and is not called dead once it is applied",
    async check(bench) {
      await register(bench, {});
      await applied(bench, "e1");
      const [ended] = await outboxOf(bench).deliveriesOf("default", ["e1"]);
      // A store may keep nothing of it: its row of the inbox is what is left.
      alike(ended?.state ?? "delivered", "delivered", "the delivery that ended");
      await store(bench, ["n1"], { key: undefined });
      const [waiting] = await outboxOf(bench).deliveriesOf("default", ["n1"]);
      alike([waiting?.endpointId, waiting?.state], ["hnd_a", "waiting"], "the delivery");
    },
  },
  {
    name: "a delivery that was redriven, and that its handler then applied, is delivered in its new round, with an attempt that says so",
    async check(bench) {
      await register(bench, {});
      const outbox = outboxOf(bench);
      await store(bench, ["e1"]);
      await kill(bench, await claimOne(bench, { of: A }));
      const [before] = await outbox.deliveriesOf("default", ["e1"]);
      alike([before?.state, before?.round], ["dead", 1], "before the redrive");
      same(await outbox.redrive(before?.id ?? ""), "in_place", "redrive");
      same(await handle(bench, { outcome: "success" }), "applied", "apply");
      const [after] = await outbox.deliveriesOf("default", ["e1"]);
      alike(
        [after?.id, after?.state, after?.round, after?.because],
        [before?.id, "delivered", 2, undefined],
        "after it",
      );
      alike((await outbox.delivery(before?.id ?? ""))?.state, "delivered", "by its id");
      const attempts = await outbox.attempts(before?.id ?? "");
      alike(attempts.at(-1)?.outcome, "acknowledged", "its last attempt");
      same(attempts.at(-1)?.round, 2, "the round of that attempt");
      await store(bench, ["n1"], { key: undefined });
      await kill(bench, await claimOne(bench, { of: A }));
      const [loose] = await outbox.deliveriesOf("default", ["n1"]);
      await outbox.redrive(loose?.id ?? "");
      await sequenceAll(bench);
      same(await handle(bench, { outcome: "success" }), "applied", "apply without a lane");
      const states = (await outbox.deliveriesOf("default", ["n1"])).map(({ state }) => state);
      holds(states.includes("delivered"), `Without a lane, its deliveries are ${states.join(", ")}`);
    },
  },
];

async function found(bench: OutboxBench, filter: InboxFilter): Promise<readonly InboxRecord[]> {
  return listAll((page) => outboxOf(bench).inboxRows(filter, page), 3);
}

async function ids(bench: OutboxBench, filter: InboxFilter): Promise<readonly string[]> {
  return (await found(bench, filter)).map(({ id }) => id);
}

interface Wish {
  readonly tenant?: string;
  readonly source?: string;
  readonly type?: string;
  readonly of?: Claimable;
  readonly outcome?: Handled["outcome"];
  readonly result?: string;
}

/** Stores an event, unless another consumer had it before, and lets its handler apply it. */
export async function applied(bench: OutboxBench, id: string, wish: Wish = {}): Promise<void> {
  const { of = A, outcome = "success", result, ...event } = wish;
  if (of === A) await store(bench, [id], { key: undefined, ...event });
  same(await handle(bench, { outcome, result }, of), "applied", `apply of ${id}`);
  await bench.time.pass(ticksMs(bench, 1));
}

/** Stores events of one key, and lets their handler apply them in one run. */
export async function appliedRun(bench: OutboxBench, events: readonly string[]): Promise<void> {
  await store(bench, events);
  const claimed = await claimOne(bench, { of: A, run: { maxEvents: events.length, maxBytes: 1_048_576 } });
  const handled = events.map((): Handled => ({ outcome: "success" }));
  const { kind } = await outboxOf(bench).apply(claimed, () => handled, limitsOf(bench));
  same(kind, "applied", `apply of ${events.join(", ")}`);
}

/** Lets the handler apply what is due first. */
export async function handle(bench: OutboxBench, handled: Handled, of: Claimable = A): Promise<string> {
  const claimed = await claimOne(bench, { of });
  const { kind } = await outboxOf(bench).apply(claimed, () => [handled], limitsOf(bench));
  return kind;
}

/** On which terms these cases apply a claim. */
export function limitsOf(bench: OutboxBench): ApplyLimits {
  return {
    acquireMs: 5000,
    signal: new AbortController().signal,
    worker: "worker_1",
    leaseMs: ticksMs(bench, LEASE_TICKS),
    run: { maxEvents: 1, maxBytes: 1_048_576 },
    next: false,
  };
}
