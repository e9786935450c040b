import { ENDPOINTS } from "../../../../lanes/lane-store.js";
import type { Claim } from "../../../../lanes/lane-store.js";
import { alike, holds, same, sameBytes, soon } from "../../expectation.js";
import type { OutboxPledge } from "../harness.js";
import {
  LEASE_TICKS,
  acknowledge,
  addEndpoint,
  claim,
  claimOne,
  claimsNothing,
  dateAfter,
  deliverAll,
  deliveryIn,
  eventOf,
  fail,
  heads,
  historyOf,
  outboxOf,
  passLease,
  passTicks,
  publish,
  settle,
  ticksMs,
  unmarked,
} from "../steps.js";
import type { ClaimWish } from "../steps.js";

/** What `claim`, `release` and `untilDue` promise. */
export const outboxClaims: readonly OutboxPledge[] = [
  {
    name: "a claim holds everything that an attempt needs",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"], { key: "order 7" });
      const { kind, consumer, lane, after, attempts, failures, run } = await claimOne(bench);
      alike(
        { kind, endpoint: unmarked(consumer), key: lane?.key, after, attempts, failures },
        {
          kind: "lane",
          endpoint: { id: "ep_a", version: 1 },
          key: "order 7",
          after: undefined,
          attempts: 0,
          failures: 0,
        },
        "the claim",
      );
      const published = await eventOf({ id: "e1" });
      const { id, type, body, contentType, time } = run[0].event;
      same(id, "e1", "the event's id");
      same(type, published.type, "the event's type");
      same(contentType, published.contentType, "the event's content type");
      alike(time, published.time, "the event's time");
      sameBytes(body, published.body, "the event's body");
      same(run[0].round, 1, "the round");
      same(run[0].expiresInMs, undefined, "until it expires");
    },
  },
  {
    name: "nothing is claimed twice until its lease ends",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await publish(bench, ["n1"], { key: undefined });
      const first = await claim(bench);
      same(heads(first.claims).split(" ").toSorted().join(" "), "e1 n1", "the first claim");
      await claimsNothing(bench, "by the same worker");
      await passTicks(bench, LEASE_TICKS - 1);
      await claimsNothing(bench, "by another worker", { at: 1, worker: "worker_2" });
      await passTicks(bench, 2);
      const second = await claim(bench, { at: 1, worker: "worker_2" });
      same(heads(second.claims).split(" ").toSorted().join(" "), "e1 n1", "the claim after the lease");
    },
  },
  {
    name: "a lease ends at its very millisecond",
    needs: ["exactTime"],
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await claimOne(bench, { leaseMs: 5000 });
      await bench.time.pass(4999);
      await claimsNothing(bench, "a millisecond too early");
      await bench.time.pass(1);
      await claimOne(bench);
    },
  },
  {
    name: "whoever claims after another has a higher epoch",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const epochs: bigint[] = [];
      const note = (each: Claim): Claim => (epochs.push(each.epoch), each);
      note(await claimOne(bench));
      await passLease(bench);
      const second = note(await claimOne(bench, { at: 1, worker: "worker_2" }));
      const next = await acknowledge(bench, second, { at: 1, worker: "worker_2", next: true });
      holds(next !== undefined, "There is no next head");
      note(next);
      await acknowledge(bench, next, { at: 1, worker: "worker_2" });
      await publish(bench, ["e3"]);
      const last = note(await claimOne(bench));
      await fail(bench, last);
      await passTicks(bench, 2);
      note(await claimOne(bench));
      const rising = epochs.every((epoch, index) => index === 0 || epoch > (epochs[index - 1] ?? 0n));
      holds(rising, `The epochs were ${epochs.join(", ")}, which do not rise each time`);
    },
  },
  {
    name: "two workers that claim at once never hold one lane",
    async check(bench) {
      await addEndpoint(bench);
      for (let n = 0; n < 30; n++) {
        await publish(bench, [`e${n}a`, `e${n}b`], { key: n % 3 === 0 ? undefined : `k${n}` });
      }
      const held: string[] = [];
      for (let turn = 0; turn < 3; turn++) {
        const claims = [0, 1, 2, 3].map((at) => claim(bench, { at, worker: `worker_${at}`, limit: 7 }));
        for (const answer of await soon(Promise.all(claims), "concurrent claims", bench.patienceMs)) {
          held.push(...answer.claims.map(({ kind, id }) => `${kind} ${id}`));
        }
      }
      held.push(...(await claim(bench)).claims.map(({ kind, id }) => `${kind} ${id}`));
      same(held.length, new Set(held).size, "how often the lanes that are held were claimed");
      same(held.length, 20 + 2 * 10, "how many lanes and loose deliveries were claimed");
    },
  },
  {
    name: "no more is claimed than the limit",
    async check(bench) {
      await addEndpoint(bench);
      for (let n = 0; n < 5; n++) await publish(bench, [`e${n}`], { key: `k${n}` });
      same((await claim(bench, { limit: 2 })).claims.length, 2, "claims with a limit of 2");
      same((await claim(bench, { limit: 10 })).claims.length, 3, "claims with a limit of 10");
    },
  },
  {
    name: "an endpoint gets at most maxInFlight less what the worker has of it",
    async check(bench) {
      await addEndpoint(bench, { maxInFlight: 3 });
      await addEndpoint(bench, { id: "ep_other", tenant: "acme" });
      for (let n = 0; n < 4; n++) await publish(bench, [`e${n}`], { key: `k${n}` });
      for (let n = 0; n < 4; n++) await publish(bench, [`n${n}`], { key: undefined });
      await publish(bench, ["other"], { tenant: "acme" });
      const full = await claim(bench, { inFlight: new Map([["ep_a", 3]]) });
      same(heads(full.claims), "other", "claims while the endpoint is full");
      same((await claim(bench, { inFlight: new Map([["ep_a", 1]]) })).claims.length, 2, "claims beside one");
      const rest = await claim(bench, { inFlight: new Map([["ep_other", 64]]) });
      same(rest.claims.length, 3, "claims beside none");
      const over = await claim(bench, { inFlight: new Map([["ep_a", 5]]) });
      same(over.claims.length, 0, "claims where the worker has more than it may");
    },
  },
  {
    name: "of an endpoint a worker gets no more than its share, less what it holds already",
    async check(bench) {
      const endpoints = ["ep_named", "ep_other", "ep_none"];
      for (const id of endpoints) await addEndpoint(bench, { id, types: [id], maxInFlight: 6 });
      for (const type of endpoints) {
        for (let n = 0; n < 6; n++) await publish(bench, [`${type}_${n}`], { key: `k${n}`, type });
        for (let n = 0; n < 4; n++) await publish(bench, [`${type}_n${n}`], { key: undefined, type });
      }
      const counts = async (wish: ClaimWish): Promise<readonly number[]> => {
        const { claims } = await claim(bench, wish);
        return endpoints.map((id) => claims.filter(({ consumer }) => consumer.id === id).length);
      };
      const shares = { of: new Map(Object.entries({ ep_named: 4, ep_none: 0 })), others: 2 };
      alike(
        await counts({ shares }),
        [4, 2, 0],
        "claims of those with a share, of the others, of those with none",
      );
      const inFlight = new Map(Object.entries({ ep_named: 3, ep_other: 2 }));
      alike(await counts({ shares, inFlight }), [1, 0, 0], "claims beside what the worker holds");
      const more = { of: new Map(Object.entries({ ep_named: 100 })), others: 0 };
      alike(await counts({ shares: more, limit: 3 }), [3, 0, 0], "claims by a limit below the share");
      alike(
        await counts({ shares: more, inFlight: new Map([["ep_named", 5]]) }),
        [1, 0, 0],
        "claims by maxInFlight",
      );
    },
  },
  {
    name: "endpoints are served in turn, whatever each has waiting",
    async check(bench) {
      const endpoints = ["ep_1", "ep_2", "ep_3"];
      for (const id of endpoints) await addEndpoint(bench, { id, types: [id] });
      for (let n = 0; n < 12; n++) await publish(bench, [`e${n}`], { key: `k${n}`, type: "ep_1" });
      for (const type of ["ep_2", "ep_3"]) {
        for (let n = 0; n < 3; n++) await publish(bench, [`${type}_${n}`], { key: `k${n}`, type });
      }
      for (let turn = 0; turn < 3; turn++) {
        const served: string[] = [];
        for (let n = 0; n < endpoints.length; n++) {
          served.push((await claimOne(bench, { limit: 1 })).consumer.id);
        }
        alike(served.toSorted(), endpoints, `who is served in turn ${turn + 1}`);
      }
    },
  },
  {
    name: "within an endpoint the one that waits longest is claimed first",
    async check(bench) {
      await addEndpoint(bench);
      for (const id of ["a", "b", "c"]) {
        await publish(bench, [id], { key: id });
        await passTicks(bench, 1);
      }
      const first = await claimOne(bench, { limit: 1 });
      same(heads([first]), "a", "the first");
      await fail(bench, first, 1);
      await passTicks(bench, 2);
      const order: string[] = [];
      for (let n = 0; n < 3; n++) order.push(heads([await claimOne(bench, { limit: 1 })]));
      alike(order, ["b", "c", "a"], "the order after the first had to wait again");
    },
  },
  {
    name: "release gives back what the worker has leased and does not hold",
    async check(bench) {
      await addEndpoint(bench);
      for (const key of ["a", "b", "c"]) await publish(bench, [key], { key });
      await publish(bench, ["n1", "n2"], { key: undefined });
      const { claims } = await claim(bench, { limit: 5 });
      const held = claims.filter((each) => ["a", "n1"].includes(heads([each])));
      same(await outboxOf(bench, 1).release("worker_2", []), 0, "release of another worker");
      same(await outboxOf(bench).release("worker_1", held), 3, "release");
      const again = await claim(bench, { worker: "worker_2" });
      same(heads(again.claims).split(" ").toSorted().join(" "), "b c n2", "what can be claimed again");
      for (const each of again.claims) same(each.attempts, 0, "attempts of what was released");
      same(await outboxOf(bench).release("worker_1", held), 0, "a second release");
      for (const each of held) await acknowledge(bench, each);
    },
  },
  {
    name: "a settlement of what was released changes nothing",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const lost = await claimOne(bench);
      same(await outboxOf(bench).release("worker_1", []), 1, "release");
      same((await settle(bench, lost, { acknowledged: 1 })).kind, "stale", "the late settlement");
      same(await historyOf(bench, deliveryIn(lost)), "", "its attempts");
      same(await deliverAll(bench), "e1 e2", "what is delivered");
    },
  },
  {
    name: "release gives back all that the worker has leased, by way of whichever process a settlement came too late",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"], { key: "a" });
      const lost = await claimOne(bench);
      same(await outboxOf(bench).release("worker_1", []), 1, "release");
      await publish(bench, ["e2"], { key: "b" });
      await claim(bench, { limit: 2 });
      same((await settle(bench, lost, { acknowledged: 1, at: 1 })).kind, "stale", "the late settlement");
      same(await outboxOf(bench, 1).release("worker_1", []), 2, "release by the other process");
      alike((await deliverAll(bench)).split(" ").toSorted(), ["e1", "e2"], "what is delivered");
    },
  },
  {
    name: "release gives back what the worker has claimed again, though it settles the claim before too late",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"], { key: "a" });
      await publish(bench, ["n1"], { key: undefined });
      const lost = await claim(bench, { limit: 2 });
      await passTicks(bench, LEASE_TICKS + 1);
      same((await claim(bench, { limit: 2 })).claims.length, 2, "claims after the lapse");
      for (const each of lost.claims) {
        same((await settle(bench, each, { acknowledged: 1 })).kind, "stale", "the late settlement");
      }
      same(await outboxOf(bench).release("worker_1", []), 2, "release");
      alike((await deliverAll(bench)).split(" ").toSorted(), ["e1", "n1"], "what is delivered");
    },
  },
  {
    name: "untilDue says 0 when something is due, and nothing when nothing waits for its time",
    async check(bench) {
      same(await outboxOf(bench).untilDue(ENDPOINTS), undefined, "untilDue of an empty outbox");
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      same(await outboxOf(bench).untilDue(ENDPOINTS), 0, "untilDue when a lane is due");
      const head = await claimOne(bench);
      await acknowledge(bench, head);
      same(await outboxOf(bench).untilDue(ENDPOINTS), undefined, "untilDue when all is delivered");
      await publish(bench, ["n1"], { key: undefined });
      same(await outboxOf(bench, 1).untilDue(ENDPOINTS), 0, "untilDue when a loose delivery is due");
    },
  },
  {
    name: "untilDue says how long until a wait is over or a lease ends",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const head = await claimOne(bench);
      await within(outboxOf(bench).untilDue(ENDPOINTS), ticksMs(bench, LEASE_TICKS), "untilDue of a lease");
      await fail(bench, head, 20);
      await within(outboxOf(bench, 1).untilDue(ENDPOINTS), ticksMs(bench, 20), "untilDue of a wait");
      await passTicks(bench, 15);
      await within(outboxOf(bench).untilDue(ENDPOINTS), ticksMs(bench, 5), "untilDue later");
      await passTicks(bench, 6);
      same(await outboxOf(bench).untilDue(ENDPOINTS), 0, "untilDue after the wait");
    },
  },
  {
    name: "untilDue looks at every endpoint, also behind one whose lanes are all leased",
    async check(bench) {
      for (const id of ["ep_1", "ep_2", "ep_3"]) await addEndpoint(bench, { id });
      await publish(bench, ["e1"]);
      for (let n = 0; n < 3; n++) {
        same(await outboxOf(bench).untilDue(ENDPOINTS), 0, `untilDue while ${3 - n} are due`);
        await claimOne(bench, { limit: 1 });
      }
      await within(
        outboxOf(bench).untilDue(ENDPOINTS),
        ticksMs(bench, LEASE_TICKS),
        "untilDue when all are leased",
      );
    },
  },
  {
    name: "untilDue counts events that wait for their deliverAt",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["later"], { deliverAt: await dateAfter(bench, 10) });
      await within(outboxOf(bench).untilDue(ENDPOINTS), ticksMs(bench, 10), "untilDue");
      await passTicks(bench, 11);
      same(await outboxOf(bench).untilDue(ENDPOINTS), 0, "untilDue when it is due");
    },
  },
  {
    name: "untilDue does not count what waits for an endpoint that is stopped",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await outboxOf(bench).changeEndpoint("ep_a", { state: "paused" });
      same(await outboxOf(bench).untilDue(ENDPOINTS), undefined, "untilDue");
      await outboxOf(bench).changeEndpoint("ep_a", { state: "active" });
      same(await outboxOf(bench).untilDue(ENDPOINTS), 0, "untilDue when it is active again");
    },
  },
];

/** At most that long, and more than half of it: the store's clock may have moved a little since. */
async function within(found: Promise<number | undefined>, mostMs: number, what: string): Promise<void> {
  const ms = await found;
  holds(ms !== undefined && ms > mostMs / 2 && ms <= mostMs, `${what} is ${ms}, not about ${mostMs}`);
}
