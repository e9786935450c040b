import type { DeadBecause, DeadPolicy } from "../../../../lanes/dead.js";
import type { DeadFilter } from "../../../../operator/dead-filter.js";
import type { DeadGroup } from "../../../../operator/dead-store.js";
import type { DeadLetter } from "../../../../operator/operator-store.js";
import { alike, holds, same } from "../../expectation.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import {
  acknowledge,
  addEndpoint,
  attemptsOf,
  claim,
  claimOne,
  claimsNothing,
  deliverAll,
  killNext,
  listAll,
  outboxOf,
  passLease,
  passTicks,
  publish,
  sequenceAll,
  settled,
} from "../steps.js";

/** How one event died. */
interface Death {
  readonly because?: DeadBecause;
  readonly status?: number;
  readonly error?: string;
  readonly policy?: DeadPolicy;
}

/** Lets the one that is due die. */
async function die(bench: OutboxBench, death: Death = {}): Promise<void> {
  const { because = "exhausted", status, error, policy = "skip" } = death;
  const head = await claimOne(bench);
  const rest = { state: "dead", because, policy } as const;
  const [attempt] = attemptsOf(head, { rest });
  const attempts = attempt === undefined ? [] : [{ ...attempt, status, error }];
  await settled(bench, head, { rest, attempts });
}

async function found(bench: OutboxBench, filter: DeadFilter, limit = 100): Promise<readonly string[]> {
  const letters = await listAll((page) => outboxOf(bench, 1).deadLetters(page, filter), limit);
  return letters.map(({ eventId }) => eventId);
}

async function letterOf(bench: OutboxBench, eventId: string): Promise<DeadLetter> {
  const { items } = await outboxOf(bench).deadLetters({ limit: 100 });
  const letter = items.find((each) => each.eventId === eventId);
  holds(letter !== undefined, `${eventId} is no dead letter`);
  return letter;
}

function told({ endpointId, because, status, error, count }: DeadGroup): string {
  return `${endpointId} ${because} ${status} ${error} ${count}`;
}

/** Four dead letters at two endpoints of two tenants, each after the one before. */
async function fourDeaths(bench: OutboxBench): Promise<void> {
  await addEndpoint(bench, { id: "ep_a" });
  await addEndpoint(bench, { id: "ep_b", tenant: "acme" });
  const deaths: readonly [id: string, tenant: string, key: string | undefined, death: Death][] = [
    ["a1", "default", "k1", { status: 500 }],
    ["a2", "default", "k2", { status: 500 }],
    ["a3", "default", "k1", { because: "refused", status: 413 }],
    ["b1", "acme", undefined, { error: "timeout" }],
  ];
  for (const [id, tenant, key, death] of deaths) {
    await publish(bench, [id], { tenant, key });
    await die(bench, death);
    await passTicks(bench, 1);
  }
}

/** What a person finds and does who has many dead letters. */
export const outboxDeadBulk: readonly OutboxPledge[] = [
  {
    name: "dead letters are filtered by tenant, endpoint, reason, status, error and key, newest or oldest first, page by page",
    async check(bench) {
      await fourDeaths(bench);
      const all = ["b1", "a3", "a2", "a1"];
      alike(await found(bench, {}), all, "without a filter");
      alike(await found(bench, { order: "oldest" }), all.toReversed(), "oldest first");
      alike(await found(bench, { order: "oldest" }, 1), all.toReversed(), "oldest first by pages of one");
      alike(await found(bench, { endpointId: "ep_a" }), ["a3", "a2", "a1"], "of an endpoint");
      alike(await found(bench, { endpointId: "ep_a", order: "oldest" }, 2), ["a1", "a2", "a3"], "its pages");
      alike(await found(bench, { tenant: "acme" }), ["b1"], "of a tenant");
      alike(await found(bench, { because: "exhausted" }), ["b1", "a2", "a1"], "of a reason");
      alike(await found(bench, { because: "exhausted" }, 1), ["b1", "a2", "a1"], "by pages of one");
      alike(await found(bench, { status: 500 }), ["a2", "a1"], "of a status");
      alike(await found(bench, { status: null }), ["b1"], "without a status");
      alike(await found(bench, { error: "timeout" }), ["b1"], "of an error");
      alike(await found(bench, { error: null, because: "refused" }), ["a3"], "without an error");
      alike(await found(bench, { endpointId: "ep_a", key: "k1" }), ["a3", "a1"], "of a key");
      alike(await found(bench, { endpointId: "ep_a", key: "k1", status: 413 }), ["a3"], "of both");
      alike(await found(bench, { endpointId: "ep_b", key: "k1" }), [], "of a key of another endpoint");
      alike(await found(bench, { endpointId: "nobody" }), [], "of an endpoint that is not there");
    },
  },
  {
    name: "dead letters are filtered by the time at which they died, and by their numbers",
    async check(bench) {
      await fourDeaths(bench);
      const { diedAt: since, number } = await letterOf(bench, "a2");
      const { diedAt: until } = await letterOf(bench, "b1");
      alike(await found(bench, { since }), ["b1", "a3", "a2"], "since a2 died");
      alike(await found(bench, { until }), ["a3", "a2", "a1"], "until b1 died");
      alike(
        await found(bench, { endpointId: "ep_a", since, until }),
        ["a3", "a2"],
        "of an endpoint, between",
      );
      alike(await found(bench, { upTo: number }), ["a2", "a1"], "up to a2");
      alike(await found(bench, { upTo: number, status: 500, since }), ["a2"], "up to a2, since then");
    },
  },
  {
    name: "dead letters that died alike are counted without reading them, largest group first; none of an endpoint that was removed",
    async check(bench) {
      await fourDeaths(bench);
      const groups = await outboxOf(bench).deadGroups({});
      same(groups.map(told)[0], "ep_a exhausted 500 undefined 2", "the largest group");
      alike(
        groups.map(told).slice(1).toSorted(),
        ["ep_a refused 413 undefined 1", "ep_b exhausted undefined timeout 1"],
        "the others",
      );
      const { diedAt: firstAt } = await letterOf(bench, "a1");
      const { diedAt: lastAt } = await letterOf(bench, "a2");
      alike([groups[0]?.firstAt, groups[0]?.lastAt], [firstAt, lastAt], "its first and its last");
      alike(
        (await outboxOf(bench).deadGroups({ tenant: "acme" })).map(told),
        groups.map(told).filter((text) => text.startsWith("ep_b")),
        "of a tenant",
      );
      alike(
        (await outboxOf(bench).deadGroups({ status: 413 })).map(told),
        ["ep_a refused 413 undefined 1"],
        "of a status",
      );
      await outboxOf(bench).redrive((await letterOf(bench, "a1")).id);
      const after = await outboxOf(bench, 1).deadGroups({ endpointId: "ep_a", because: "exhausted" });
      alike(after.map(told), ["ep_a exhausted 500 undefined 1"], "after a redrive");
      await outboxOf(bench).redrive((await letterOf(bench, "a2")).id);
      alike(
        await outboxOf(bench, 1).deadGroups({ endpointId: "ep_a", because: "exhausted" }),
        [],
        "when all are redriven",
      );
      await outboxOf(bench).removeEndpoint("ep_b");
      alike(
        (await outboxOf(bench).deadGroups({})).map(told),
        ["ep_a refused 413 undefined 1"],
        "after a removal",
      );
      alike(await found(bench, { tenant: "acme" }), [], "dead letters of the removed endpoint");
    },
  },
  {
    name: "a summary tells how many dead letters a filter lets through, in how many lanes, and how much waits behind them",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"], { key: "k1" });
      await die(bench, { status: 500, policy: "halt" });
      await publish(bench, ["f1"], { key: "k2" });
      await die(bench, { status: 500 });
      await publish(bench, ["n1"], { key: undefined });
      await die(bench, { status: 500 });
      const { upTo, ...summary } = await outboxOf(bench).deadSummary({ status: 500 });
      alike(
        summary,
        {
          count: 3,
          more: false,
          lanes: 2,
          blocking: 1,
          waitingBehind: 2,
          endpoints: [{ endpointId: "ep_a", count: 3 }],
        },
        "the summary",
      );
      same(upTo, (await letterOf(bench, "n1")).number, "the highest number");
      const nothing = await outboxOf(bench).deadSummary({ status: 404 });
      alike([nothing.count, nothing.upTo, nothing.endpoints], [0, undefined, []], "of what is not there");
    },
  },
  {
    name: "many are redriven each in its round, in the given order; one that died again since then is in another round, and stays",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"], { key: "k1" });
      await die(bench, { status: 500 });
      await die(bench, { status: 500 });
      await publish(bench, ["h1", "h2"], { key: "k2" });
      await die(bench, { status: 500, policy: "halt" });
      const { items } = await outboxOf(bench).deadLetters({ limit: 10 }, { order: "oldest" });
      const wanted = [...items.map(({ id, round }) => ({ id, round })), { id: "dlv_99_1", round: 1 }];
      const outbox = outboxOf(bench, 1);
      alike(await outbox.redriveAll(wanted), ["at_end", "at_end", "in_place", "unknown"], "the first call");
      alike(await outbox.redriveAll(wanted), ["before", "before", "before", "unknown"], "the second call");
      await sequenceAll(bench);
      const { claims } = await claim(bench);
      same(
        claims
          .map(({ run }) => `${run[0].event.id} ${run[0].round}`)
          .toSorted()
          .join(", "),
        "e1 2, h1 2",
        "the heads, and their rounds",
      );
      const again = claims.find(({ run }) => run[0].event.id === "h1");
      holds(again !== undefined, "h1 is not due");
      await settled(bench, again, { rest: { state: "dead", because: "exhausted", policy: "halt" } });
      alike((await outbox.redriveAll(wanted)).slice(2), ["before", "unknown"], "after it died again");
      alike(await found(bench, {}), ["h1"], "what stays dead");
      for (const each of claims) if (each !== again) await acknowledge(bench, each);
      same(await deliverAll(bench), "e2", "what follows e1");
    },
  },
  {
    name: "what waits in a lane is cancelled up to a sequence: the lane goes on behind it, and the gap is told on the wire",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3", "e4"]);
      const head = await claimOne(bench);
      const first = head.run[0].sequence;
      await acknowledge(bench, head);
      const outbox = outboxOf(bench, 1);
      alike(await outbox.cancel(head.id, first + 2n), { kind: "cancelled", count: 2 }, "cancel of e2 and e3");
      alike(await outbox.cancel(head.id, first + 2n), { kind: "unknown" }, "a second cancel");
      alike(await outbox.cancel(99_999n, 1n), { kind: "unknown" }, "cancel in a lane that is not there");
      const next = await claimOne(bench);
      alike(
        [next.run[0].event.id, next.run[0].sequence, next.after],
        ["e4", first + 3n, first],
        "what is next",
      );
      await acknowledge(bench, next);
      const states = await outbox.deliveriesOf("default", ["e1", "e2", "e3", "e4"]);
      alike(
        states.map(({ state, because }) => `${state} ${because}`),
        ["delivered undefined", "cancelled cancelled", "cancelled cancelled", "delivered undefined"],
        "how they stand",
      );
    },
  },
  {
    name: "a cancelled lane resolves the dead letter of its head, and is empty where all of it was cancelled",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const dead = await killNext(bench, "halt");
      const cancelled = await outboxOf(bench).cancel(dead.id, dead.run[0].sequence + 100n);
      alike(cancelled, { kind: "cancelled", count: 2 }, "cancel");
      alike(await found(bench, {}), [], "dead letters afterwards");
      alike(await outboxOf(bench).deadGroups({}), [], "groups afterwards");
      await claimsNothing(bench, "of what was cancelled");
      await publish(bench, ["e3"]);
      same(await deliverAll(bench), "e3", "what comes later");
    },
  },
  {
    name: "a head that a worker has under way is skipped unless it succeeds when its lane is cancelled; behind it nothing changes",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const head = await claimOne(bench);
      const through = head.run[0].sequence + 1n;
      alike(await outboxOf(bench).cancel(head.id, through), { kind: "intended" }, "cancel");
      await settled(bench, head, { rest: { state: "due", afterMs: 0, counts: true } });
      same((await claimOne(bench)).run[0].event.id, "e2", "the head after it failed");
      await passLease(bench);
      alike(
        await outboxOf(bench).cancel(head.id, through),
        { kind: "cancelled", count: 1 },
        "after the lease",
      );
      await claimsNothing(bench, "of what was cancelled");
    },
  },
];
