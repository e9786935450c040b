import type { Handled } from "../../../../inbox/inbox-store.js";
import type { Applied, ApplyWork } from "../../../../inbox/worker/worker-store.js";
import type { Claim, RunLimits } from "../../../../lanes/lane-store.js";
import type { OutgoingEvent } from "../../../../outbox/outgoing-event.js";
import { alike, holds, same, soon } from "../../expectation.js";
import { A, B, register, store, storedEvent } from "./handlers.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import {
  addEndpoint,
  claim,
  claimOne,
  claimsNothing,
  deliverAll,
  eventOf,
  fail,
  kill,
  LEASE_TICKS,
  listAll,
  outboxOf,
  passLease,
  passTicks,
  runOf,
  sequenceAll,
  settled,
  ticksMs,
} from "../steps.js";

const RUN: RunLimits = { maxEvents: 8, maxBytes: 1_048_576 };

/** What `apply` promises. What a handler writes is an event that it publishes: an endpoint gets it, or never does. */
export const outboxApplying: readonly OutboxPledge[] = [
  {
    name: "an apply commits what its handlers wrote, in order, together with the lane's next state",
    async check(bench) {
      await prepare(bench);
      await store(bench, ["e1", "e2", "e3"]);
      const claimed = await claimOne(bench, { of: A, run: RUN });
      alike(await apply(bench, claimed), { kind: "applied", count: 3, next: undefined }, "apply");
      same(await published(bench), "p_e1 p_e2 p_e3", "what was published");
      await claimsNothing(bench, "after it was applied", { of: A });
    },
  },
  {
    name: "an apply is given all events of its run at once, up to a hundred, and finishes no other",
    async check(bench) {
      await prepare(bench);
      const ids = Array.from({ length: 103 }, (_, n) => `e${n}`);
      await store(bench, ids);
      const given: string[] = [];
      const hundred = { maxEvents: 100, maxBytes: 1_048_576 };
      const claimed = await claimOne(bench, { of: A, run: hundred });
      const applied = await apply(bench, claimed, { given, next: true, run: hundred });
      alike([...new Set(given)], [ids.slice(0, 100).join(" ")], "what the handlers were given");
      const { next } = applied as { readonly next?: Claim };
      same(next && runOf(next), ids.slice(100).join(" "), "the next run");
    },
  },
  {
    name: "an apply whose handler throws changes nothing, and its claim is still held",
    async check(bench) {
      await prepare(bench);
      await store(bench, ["e1", "e2"]);
      await store(bench, ["n1"], { key: undefined });
      const { claims } = await claim(bench, { of: A, run: RUN });
      for (const each of claims) {
        const last = each.run.at(-1)?.event.id;
        const failed = await apply(bench, each, { throwsAt: last ?? "" });
        alike(failed, { kind: "failed", error: new Error(`thrown at ${last}`) }, "apply");
      }
      same(await published(bench), "", "what was published");
      await claimsNothing(bench, "while the claim is held", { of: A, worker: "worker_2" });
      for (const each of claims) await settled(bench, each, {});
      const again = (await claim(bench, { of: A, run: RUN })).claims;
      alike(again.map(runOf).toSorted(), ["e1 e2", "n1"], "what is claimed again");
      alike(
        again.map(({ attempts }) => attempts),
        [0, 0],
        "attempts",
      );
    },
  },
  {
    name: "an apply returns the lane's next head, leased under a higher epoch",
    async check(bench) {
      await prepare(bench);
      await store(bench, ["e1", "e2", "e3"]);
      const first = await claimOne(bench, { of: A });
      const { next } = (await apply(bench, first, { next: true })) as { next?: Claim };
      holds(next !== undefined && next.epoch > first.epoch, "There is no next head under a higher epoch");
      alike(
        [runOf(next), next.after, next.consumer.id],
        ["e2", first.run[0].sequence, "hnd_a"],
        "the next head",
      );
      await claimsNothing(bench, "that is leased already", { of: A, worker: "worker_2" });
      const after = (await apply(bench, next, { next: true, run: RUN })) as { next?: Claim };
      same(after.next && runOf(after.next), "e3", "the one after it");
    },
  },
  {
    name: "where nothing waits behind, an apply may lease another lane of the same consumer: due, leased by nobody, its head never tried",
    async check(bench) {
      await prepare(bench);
      await register(bench, { id: "hnd_b" });
      await store(bench, ["held"], { key: "one" });
      await claimOne(bench, { of: A, worker: "worker_2" });
      await store(bench, ["e1"], { key: "two" });
      const first = await claimOne(bench, { of: A });
      await store(bench, ["e2", "e3"], { key: "three" });
      const second = await leasedWith(bench, first, "e2 e3");
      alike([second.lane?.key, second.attempts, second.after], ["three", 0, undefined], "its lane");
      await store(bench, ["failed"], { key: "four" });
      await fail(bench, await claimOne(bench, { of: A }));
      await passTicks(bench, 1);
      await store(bench, ["e4"], { key: "five" });
      const { next } = (await apply(bench, second, { next: true, other: true, run: RUN })) as {
        next?: Claim;
      };
      holds(next === undefined || runOf(next) === "e4", "A lane is leased whose head has failed");
      const others = (await claim(bench, { of: A, worker: "worker_3" })).claims;
      const leased = [...(next ? [next] : []), ...others];
      alike(leased.map(runOf).toSorted(), ["e4", "failed"], "what is leased then, once each");
      same(await published(bench), "p_e1 p_e2 p_e3", "what was published");
    },
  },
  {
    name: "an apply of a claim that has passed to another changes nothing",
    async check(bench) {
      await prepare(bench);
      await store(bench, ["e1"]);
      await store(bench, ["n1"], { key: undefined });
      const late = (await claim(bench, { of: A })).claims;
      await passLease(bench);
      const current = (await claim(bench, { of: A, worker: "worker_2" })).claims;
      for (const each of late) alike(await apply(bench, each), { kind: "stale" }, "apply of the late one");
      same(await published(bench), "", "what was published");
      for (const each of current) {
        same((await apply(bench, each, { worker: "worker_2" })).kind, "applied", "apply of the current one");
      }
      alike((await published(bench)).split(" ").toSorted(), ["p_e1", "p_n1"], "what was published then");
    },
  },
  {
    name: "an apply whose lease has ended and was claimed by nobody counts",
    async check(bench) {
      await prepare(bench);
      await store(bench, ["e1"]);
      const late = await claimOne(bench, { of: A });
      await passLease(bench);
      same((await apply(bench, late)).kind, "applied", "apply");
      same(await published(bench), "p_e1", "what was published");
    },
  },
  {
    name: "an event that was applied before is a duplicate, and the lane goes on without it",
    async check(bench) {
      await prepare(bench);
      await store(bench, ["e1"]);
      await apply(bench, await claimOne(bench, { of: A }));
      await storeAs(bench, "e1_again", "e1");
      await store(bench, ["e2"]);
      const again = await claimOne(bench, { of: A });
      const duplicate = (await apply(bench, again, { next: true })) as { kind: string; next?: Claim };
      alike([duplicate.kind, duplicate.next && runOf(duplicate.next)], ["duplicate", "e2"], "apply");
      same(await published(bench), "p_e1", "what was published");
    },
  },
  {
    name: "a run ends before an event that was applied before, or that it has already",
    async check(bench) {
      await prepare(bench);
      await store(bench, ["e1"]);
      await apply(bench, await claimOne(bench, { of: A }));
      await store(bench, ["e2"]);
      await storeAs(bench, "e1_again", "e1");
      await store(bench, ["e3"]);
      await storeAs(bench, "e3_again", "e3");
      const kinds: string[] = [];
      const given: string[] = [];
      for (let turn = 0; turn < 4; turn++) {
        const applied = await apply(bench, await claimOne(bench, { of: A, run: RUN }), { given });
        kinds.push(`${applied.kind} ${"count" in applied ? applied.count : 0}`);
      }
      alike(kinds, ["applied 1", "duplicate 1", "applied 1", "duplicate 1"], "what each claim came to");
      alike([...new Set(given)], ["e2", "e3"], "what the handlers were given");
      same(await published(bench), "p_e1 p_e2 p_e3", "what was published");
    },
  },
  {
    name: "an apply tells its handlers the round of each event in the inbox, which a redrive does not raise",
    async check(bench) {
      await prepare(bench);
      await store(bench, ["e1", "e2"]);
      await kill(bench, await claimOne(bench, { of: A }));
      const [dead] = await listAll((page) => outboxOf(bench).deadLetters(page), 10);
      same(await outboxOf(bench).redrive(dead?.id ?? ""), "in_place", "redrive");
      const claimed = await claimOne(bench, { of: A, run: RUN });
      same(claimed.run[0].round, 2, "the round of its delivery");
      const rounds: number[] = [];
      await apply(bench, claimed, { rounds });
      alike([...new Set(rounds)], [1], "the round of its row");
    },
  },
  {
    name: "each handler of an event applies it once",
    async check(bench) {
      await prepare(bench);
      await register(bench, { id: "hnd_b" });
      await store(bench, ["e1"]);
      const [ofA, ofB] = [await claimOne(bench, { of: A }), await claimOne(bench, { of: B })];
      same((await apply(bench, ofA)).kind, "applied", "apply of the first handler");
      same((await apply(bench, ofB)).kind, "applied", "apply of the second handler");
      same(await published(bench), "p_e1 p_e1", "what was published");
    },
  },
  {
    name: "an apply of a handler that is paused meanwhile counts, and gives no next head",
    async check(bench) {
      await prepare(bench);
      await store(bench, ["e1", "e2"]);
      const claimed = await claimOne(bench, { of: A });
      await outboxOf(bench).pauseHandler("hnd_a", { because: "by hand" });
      alike(
        await apply(bench, claimed, { next: true }),
        { kind: "applied", count: 1, next: undefined },
        "apply",
      );
      await outboxOf(bench).resumeHandler("hnd_a");
      same(runOf(await claimOne(bench, { of: A })), "e2", "what is claimed when it goes on");
    },
  },
  {
    name: "no lane is locked while a handler runs: what is stored meanwhile is sequenced, and is the next head",
    needs: ["awaitingHandlers", "manyConnections"],
    async check(bench) {
      await prepare(bench);
      await store(bench, ["e1"]);
      const claimed = await claimOne(bench, { of: A });
      const during = async (): Promise<void> =>
        soon(store(bench, ["e2"]), "store beside a handler", bench.patienceMs);
      const applied = (await apply(bench, claimed, { next: true, during })) as { next?: Claim };
      same(applied.next && runOf(applied.next), "e2", "the next head");
    },
  },
];

/** Applies a claim by a worker that would take another lane, and leases that if the apply did not: its run is this. */
async function leasedWith(bench: OutboxBench, claimed: Claim, run: string): Promise<Claim> {
  const { next } = (await apply(bench, claimed, { next: true, other: true, run: RUN })) as { next?: Claim };
  if (next === undefined) return claimOne(bench, { of: A, run: RUN });
  alike([runOf(next), next.consumer.id], [run, "hnd_a"], "what the apply has leased");
  await claimsNothing(bench, "that the apply has leased", { of: A, worker: "worker_2" });
  return next;
}

async function prepare(bench: OutboxBench): Promise<void> {
  await addEndpoint(bench);
  await register(bench, {});
}

interface Doing {
  readonly throwsAt?: string;
  readonly next?: boolean;
  readonly other?: boolean;
  readonly run?: RunLimits;
  readonly worker?: string;
  readonly during?: () => Promise<void>;
  /** Gathers the ids that the handlers were given, one text for each call. */
  readonly given?: string[];
  /** Gathers the rounds that they were told. */
  readonly rounds?: number[];
}

const SUCCESS: Handled = { outcome: "success" };

/** Applies a claim by a handler that publishes `p_` and the event's id. */
export async function apply(bench: OutboxBench, claimed: Claim, doing: Doing = {}): Promise<Applied> {
  const {
    throwsAt,
    next = false,
    other = false,
    run = { ...RUN, maxEvents: 1 },
    worker = "worker_1",
    during,
    given,
    rounds,
  } = doing;
  const outbox = outboxOf(bench);
  const events = new Map<string, OutgoingEvent>();
  for (const { event } of claimed.run) events.set(event.id, await eventOf({ id: `p_${event.id}` }));
  const limits = {
    acquireMs: 5000,
    signal: new AbortController().signal,
    worker,
    leaseMs: ticksMs(bench, LEASE_TICKS),
    run,
    next,
    other,
  };
  const work: ApplyWork<unknown> = (tx, deliveries) => {
    rounds?.push(...deliveries.map(({ inboxRound }) => inboxRound));
    given?.push(deliveries.map(({ event }) => event.id).join(" "));
    const written: unknown = outbox.write(
      deliveries.map(({ event }) => events.get(event.id) as OutgoingEvent),
      tx,
    );
    const end = (): readonly Handled[] => {
      if (deliveries.some(({ event }) => event.id === throwsAt)) throw new Error(`thrown at ${throwsAt}`);
      return deliveries.map(() => SUCCESS);
    };
    return outbox.transactions === "synchronous"
      ? end()
      : Promise.resolve(written)
          .then(during)
          .then(() => end());
  };
  return soon(outbox.apply(claimed, work, limits), "apply", bench.patienceMs);
}

/** What the endpoint has been given of all that handlers have published, in order. */
export async function published(bench: OutboxBench): Promise<string> {
  await sequenceAll(bench);
  return deliverAllOf(bench);
}

const delivered = new WeakMap<OutboxBench, string[]>();

/** All that the endpoint has been given so far. */
async function deliverAllOf(bench: OutboxBench): Promise<string> {
  const known = delivered.get(bench) ?? [];
  const more = await deliverAll(bench);
  if (more !== "") known.push(...more.split(" "));
  delivered.set(bench, known);
  return known.join(" ");
}

/** Stores an event that its provider had sent before, and whose name was forgotten. */
async function storeAs(bench: OutboxBench, id: string, storedId: string): Promise<void> {
  const { receipt } = await storedEvent(storedId);
  await store(bench, [id], { receipt });
}
