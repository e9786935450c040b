import { alike, holds, same, soon } from "../../expectation.js";
import type { OutboxPledge } from "../harness.js";
import {
  acknowledge,
  addEndpoint,
  claim,
  claimOne,
  claimsNothing,
  deliverAll,
  deliveryIn,
  fail,
  heads,
  historyOf,
  kill,
  outboxOf,
  passLease,
  passTicks,
  publish,
  settle,
  settleAll,
  settled,
  settlementOf,
  ticksMs,
  unmarked,
} from "../steps.js";

/** What `settle` promises. */
export const outboxSettling: readonly OutboxPledge[] = [
  {
    name: "what was acknowledged is never claimed again, and its lane goes on",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      await publish(bench, ["n1"], { key: undefined });
      same((await deliverAll(bench)).split(" ").toSorted().join(" "), "e1 e2 n1", "what is delivered");
      await passLease(bench);
      await claimsNothing(bench, "of what was acknowledged");
    },
  },
  {
    name: "settle returns the lane's next head, leased under the next epoch",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const head = await claimOne(bench);
      const next = await acknowledge(bench, head, { next: true });
      holds(next !== undefined, "There is no next head");
      alike([next.kind, next.id, heads([next])], ["lane", head.id, "e2"], "the next head");
      holds(next.epoch > head.epoch, `The next epoch is ${next.epoch}, after ${head.epoch}`);
      alike([next.attempts, next.failures, next.after], [0, 0, head.run[0].sequence], "what it went through");
      await claimsNothing(bench, "beside the next head", { at: 1, worker: "worker_2" });
      same((await settle(bench, head, { acknowledged: 1 })).kind, "stale", "a settlement of the old claim");
      same(await acknowledge(bench, next, { next: true }), undefined, "the next head of an empty lane");
    },
  },
  {
    name: "the next head is leased like any other: when that ends, it is claimed by another",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const next = await acknowledge(bench, await claimOne(bench), { next: true });
      holds(next !== undefined, "There is no next head");
      await passLease(bench);
      same(heads([await claimOne(bench, { worker: "worker_2" })]), "e2", "what another claims");
      same((await settle(bench, next, { acknowledged: 1 })).kind, "stale", "its late settlement");
    },
  },
  {
    name: "a lane whose next head nobody wants is due at once",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      same(await acknowledge(bench, await claimOne(bench)), undefined, "the next head");
      same(heads([await claimOne(bench, { at: 1, worker: "worker_2" })]), "e2", "what another claims");
    },
  },
  {
    name: "a settlement whose claim has passed to another changes nothing",
    async check(bench) {
      for (const rest of STALE_STATES) {
        const key = rest?.state ?? "acknowledged";
        const endpoint = await addEndpoint(bench, { id: `ep_${key}`, types: [key] });
        await publish(bench, [`${key}1`, `${key}2`], { key, type: key });
        const stalled = await claimOne(bench);
        await passLease(bench);
        const holder = await claimOne(bench, { at: 1, worker: "worker_2" });
        const doing = rest === undefined ? { acknowledged: 1 } : { rest };
        same((await settle(bench, stalled, { ...doing, next: true })).kind, "stale", `a stale ${key}`);
        same(await historyOf(bench, deliveryIn(stalled)), "1.1 lapsed", `attempts after a stale ${key}`);
        alike((await outboxOf(bench).readEndpoints([endpoint.id])).map(unmarked), [endpoint], `its endpoint`);
        await claimsNothing(bench, `after a stale ${key}`);
        const next = await acknowledge(bench, holder, { worker: "worker_2", next: true });
        holds(next !== undefined, `The holder got no next head after a stale ${key}`);
        same(heads([next]), `${key}2`, "the holder's next head");
        await acknowledge(bench, next);
      }
    },
  },
  {
    name: "a stale settlement of a delivery without a lane changes nothing",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["n1"], { key: undefined });
      const stalled = await claimOne(bench);
      await passLease(bench);
      const holder = await claimOne(bench, { at: 1, worker: "worker_2" });
      same((await settle(bench, stalled, { acknowledged: 1 })).kind, "stale", "the stale settlement");
      await fail(bench, holder);
      await passTicks(bench, 2);
      same(await deliverAll(bench), "n1", "what is delivered");
    },
  },
  {
    name: "a settlement whose lease has ended and was claimed by nobody counts",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      await publish(bench, ["n1"], { key: undefined });
      const { claims } = await claim(bench);
      await passLease(bench);
      for (const late of claims) {
        await acknowledge(bench, late);
        same(await historyOf(bench, deliveryIn(late)), "1.1 acknowledged", `attempts of ${heads([late])}`);
      }
      same(await deliverAll(bench), "e2", "what is delivered after it");
    },
  },
  {
    name: "a claim is settled once: a second settlement of it changes nothing",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const head = await claimOne(bench);
      const rest = { state: "due", afterMs: ticksMs(bench, 1), counts: true } as const;
      await settled(bench, head, { rest });
      same((await settle(bench, head, { rest })).kind, "stale", "the second settlement");
      same((await settle(bench, head, { acknowledged: 1 })).kind, "stale", "a third, of another kind");
      await passTicks(bench, 2);
      const { attempts, failures, run } = await claimOne(bench);
      alike([run[0].event.id, attempts, failures], ["e1", 1, 1], "what counted");
    },
  },
  {
    name: "of two settlements of one claim at once, one counts",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      const head = await claimOne(bench);
      const both = [0, 1].map((at) => settle(bench, head, { acknowledged: 1, at }));
      const kinds = (await soon(Promise.all(both), "two settlements", bench.patienceMs)).map(
        ({ kind }) => kind,
      );
      alike(kinds.toSorted(), ["settled", "stale"], "what they came to");
      same(await deliverAll(bench), "e2 e3", "what is delivered after it");
    },
  },
  {
    name: "settlements of one call are answered one by one, and a stale one spoils no other",
    async check(bench) {
      await addEndpoint(bench);
      for (const key of ["a", "b", "c"]) await publish(bench, [`${key}1`, `${key}2`], { key });
      const { claims } = await claim(bench);
      const [one, two, three] = claims.toSorted((a, b) => (heads([a]) < heads([b]) ? -1 : 1));
      holds(one !== undefined && two !== undefined && three !== undefined, "There are not three claims");
      const answers = await settleAll(bench, [
        settlementOf(three, { acknowledged: 1, next: true }),
        settlementOf({ ...one, epoch: one.epoch + 1n }, { acknowledged: 1 }),
        settlementOf({ ...one, id: one.id + 1000n }, { acknowledged: 1 }),
        settlementOf(two, { acknowledged: 1 }),
      ]);
      alike(
        answers.map(({ kind }) => kind),
        ["settled", "stale", "stale", "settled"],
        "the answers",
      );
      const [first] = answers;
      same(
        first?.kind === "settled" && first.next && heads([first.next]),
        "c2",
        "the next head of the first",
      );
      same(heads([await claimOne(bench)]), "b2", "what can be claimed");
      await acknowledge(bench, one);
    },
  },
  {
    name: "a failure spends the retry budget, and is counted and numbered",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      for (const n of [0, 1, 2]) {
        const head = await claimOne(bench);
        alike([head.attempts, head.failures], [n, n], `attempts and failures before failure ${n + 1}`);
        await fail(bench, head);
        await passTicks(bench, 2);
      }
      const head = await claimOne(bench);
      await acknowledge(bench, head);
      same(
        await historyOf(bench, deliveryIn(head)),
        "1.1 refused, 1.2 refused, 1.3 refused, 1.4 acknowledged",
        "its attempts",
      );
      const { attempts, failures } = await claimOne(bench);
      alike([attempts, failures], [0, 0], "attempts and failures of the next one");
    },
  },
  {
    name: "an attempt that does not count spends nothing of the retry budget",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await publish(bench, ["n1"], { key: undefined });
      for (const each of (await claim(bench)).claims) await fail(bench, each, 1, false);
      await passTicks(bench, 2);
      for (const { attempts, failures } of (await claim(bench)).claims) {
        alike([attempts, failures], [1, 0], "attempts and failures");
      }
    },
  },
  {
    name: "a claim that is given back untried is due at once, as if it had never been claimed",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const run = { maxEvents: 8, maxBytes: 1_048_576 };
      const head = await claimOne(bench, { run });
      await settled(bench, head, {});
      const again = await claimOne(bench, { run, at: 1, worker: "worker_2" });
      alike([again.attempts, again.failures, again.run.length], [0, 0, 2], "what it went through");
      same(await historyOf(bench, deliveryIn(again)), "", "its attempts");
    },
  },
  {
    name: "a delivery that is cancelled is passed over, and never claimed again",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      await publish(bench, ["n1"], { key: undefined });
      const cancelled = { state: "cancelled", because: "expired" } as const;
      for (const each of (await claim(bench)).claims) await settled(bench, each, { rest: cancelled });
      same(await deliverAll(bench), "e2", "what is delivered");
    },
  },
  {
    name: "a delivery that is cancelled is recorded with its reason",
    needs: ["cancelledListing"],
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await settled(bench, await claimOne(bench), { rest: { state: "cancelled", because: "expired" } });
      const [record, ...others] = (await bench.cancelled?.()) ?? [];
      same(others.length, 0, "how many more are recorded");
      const { endpointId, eventId, because } = record ?? {};
      alike([endpointId, eventId, because], ["ep_a", "e1", "expired"], "what is recorded");
    },
  },
  {
    name: "settle gives the next head also after one that died or was cancelled and let the lane go on",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      const dead = { state: "dead", because: "exhausted", policy: "skip" } as const;
      const second = await settled(bench, await claimOne(bench), { rest: dead, next: true });
      holds(second !== undefined, "There is no next head after the dead one");
      same(heads([second]), "e2", "the next head");
      const cancelled = { state: "cancelled", because: "expired" } as const;
      const third = await settled(bench, second, { rest: cancelled, next: true });
      same(third && heads([third]), "e3", "the next head after the cancelled one");
    },
  },
  {
    name: "settle gives no next head while the head has to wait, or is dead and halts its lane",
    async check(bench) {
      await addEndpoint(bench);
      for (const key of ["a", "b"]) await publish(bench, [`${key}1`, `${key}2`], { key });
      const [one, two] = (await claim(bench)).claims;
      holds(one !== undefined && two !== undefined, "There are not two claims");
      const due = { state: "due", afterMs: ticksMs(bench, 2), counts: true } as const;
      same(await settled(bench, one, { rest: due, next: true }), undefined, "the next head of a retry");
      const dead = { state: "dead", because: "refused", policy: "halt" } as const;
      same(await settled(bench, two, { rest: dead, next: true }), undefined, "the next head of a halt");
    },
  },
  {
    name: "a delivery without a lane is tried again later, and has no next",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["n1", "n2"], { key: undefined });
      const { claims } = await claim(bench);
      const [one, two] = claims;
      holds(one !== undefined && two !== undefined, "There are not two claims");
      same(await acknowledge(bench, one, { next: true }), undefined, "the next of a loose delivery");
      await fail(bench, two, 2);
      await passTicks(bench, 1);
      await claimsNothing(bench, "before the wait was over");
      await passTicks(bench, 2);
      const again = await claimOne(bench);
      alike([heads([again]), again.attempts, again.failures], [heads([two]), 1, 1], "what is due again");
      await kill(bench, again);
      await claimsNothing(bench, "of what is dead");
    },
  },
];

const STALE_STATES = [
  undefined,
  { state: "due", afterMs: 0, counts: true },
  { state: "dead", because: "exhausted", policy: "skip" },
  { state: "cancelled", because: "expired" },
  { state: "disabled", because: "gone" },
] as const;
