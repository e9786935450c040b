import { alike, holds, same } from "../../expectation.js";
import type { OutboxPledge } from "../harness.js";
import {
  acknowledge,
  addEndpoint,
  claim,
  claimOne,
  claimsNothing,
  dateAfter,
  deliverAll,
  eventOf,
  fail,
  heads,
  outboxOf,
  passTicks,
  publish,
  sequenceAll,
  settled,
  ticksMs,
} from "../steps.js";

/** What lanes promise. */
export const outboxOrder: readonly OutboxPledge[] = [
  {
    name: "a lane keeps the order of publishing, with sequences without a gap",
    async check(bench) {
      await addEndpoint(bench);
      const ids = Array.from({ length: 12 }, (_, n) => `e${n}`);
      for (const id of ids) await publish(bench, [id]);
      const seen: string[] = [];
      let last: bigint | undefined;
      for (let n = 0; n < ids.length; n++) {
        const { run, ...head } = await claimOne(bench);
        seen.push(run[0].event.id);
        if (last !== undefined) same(run[0].sequence, last + 1n, `the sequence after ${last}`);
        last = run[0].sequence;
        await acknowledge(bench, { run, ...head });
      }
      alike(seen, ids, "what is delivered");
    },
  },
  {
    name: "two lanes that are published to in turn have no gap either",
    async check(bench) {
      await addEndpoint(bench);
      for (const n of [1, 2, 3]) for (const key of ["a", "b"]) await publish(bench, [`${key}${n}`], { key });
      const { claims } = await claim(bench, { run: { maxEvents: 8, maxBytes: 1_048_576 } });
      for (const { run } of claims) {
        const [first, ...others] = run.map(({ sequence }) => sequence);
        holds(first !== undefined && others.length === 2, `The lane gave ${run.length} deliveries, not 3`);
        alike(others, [first + 1n, first + 2n], "the sequences after the first");
      }
    },
  },
  {
    name: "of a lane only the head is due, and one delivery at a time is under way",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      const head = await claimOne(bench);
      same(heads([head]), "e1", "the head");
      await claimsNothing(bench, "beside the head", { at: 1, worker: "worker_2" });
      await publish(bench, ["e4"]);
      await claimsNothing(bench, "beside the head, after another event came");
      await acknowledge(bench, head);
      same(heads([await claimOne(bench, { at: 1 })]), "e2", "the head after the first");
    },
  },
  {
    name: "lanes go on beside each other, also beside one that fails",
    async check(bench) {
      await addEndpoint(bench);
      for (const key of ["a", "b", "c"]) await publish(bench, [`${key}1`, `${key}2`], { key });
      const { claims } = await claim(bench);
      same(heads(claims).split(" ").toSorted().join(" "), "a1 b1 c1", "the heads");
      const stuck = claims.find(({ lane }) => lane?.key === "a");
      for (const each of claims) await (each === stuck ? fail(bench, each) : acknowledge(bench, each));
      const delivered = (await deliverAll(bench)).split(" ").toSorted();
      alike(delivered, ["b2", "c2"], "what is delivered beside the lane that fails");
    },
  },
  {
    name: "a delivery that failed is tried again later at the head of its lane: later ones wait",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      await fail(bench, await claimOne(bench), 2);
      await passTicks(bench, 1);
      await claimsNothing(bench, "before the wait was over");
      await publish(bench, ["e3"]);
      await claimsNothing(bench, "before the wait was over, after another event came");
      await passTicks(bench, 2);
      same(await deliverAll(bench), "e1 e2 e3", "what is delivered after the wait");
    },
  },
  {
    name: "a delivery is due at the very moment its wait is over, and no millisecond before",
    needs: ["exactTime"],
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await fail(bench, await claimOne(bench), 2);
      await bench.time.pass(ticksMs(bench, 2) - 1);
      await claimsNothing(bench, "a millisecond too early");
      await bench.time.pass(1);
      await claimOne(bench);
    },
  },
  {
    name: "the same key at another endpoint or of another tenant is another lane",
    async check(bench) {
      await addEndpoint(bench, { id: "ep_1" });
      await addEndpoint(bench, { id: "ep_2" });
      await addEndpoint(bench, { id: "ep_3", tenant: "acme" });
      await publish(bench, ["e1"]);
      await publish(bench, ["e2"], { tenant: "acme" });
      const { claims } = await claim(bench);
      same(new Set(claims.map(({ id }) => id)).size, 3, "how many lanes there are");
    },
  },
  {
    name: "deliveries without a lane are due all at once, and have neither sequence nor neighbour",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["n1", "n2", "n3"], { key: undefined });
      const { claims } = await claim(bench, { run: { maxEvents: 8, maxBytes: 1_048_576 } });
      same(heads(claims).split(" ").toSorted().join(" "), "n1 n2 n3", "the heads");
      for (const { kind, lane, after, run } of claims) {
        const seen = { kind, lane, after, length: run.length, sequence: run[0].sequence };
        alike(
          seen,
          { kind: "loose", lane: undefined, after: undefined, length: 1, sequence: 0n },
          "the claim",
        );
      }
      for (const each of claims) await acknowledge(bench, each);
      await claimsNothing(bench, "after all were acknowledged");
    },
  },
  {
    name: "an event with deliverAt takes its place when it is due",
    async check(bench) {
      await addEndpoint(bench);
      const later = await dateAfter(bench, 2);
      await publish(bench, ["later"], { deliverAt: later });
      await claimsNothing(bench, "before it was due");
      await publish(bench, ["now"]);
      same(await deliverAll(bench), "now", "what is delivered before");
      await passTicks(bench, 3);
      await publish(bench, ["after"]);
      same(await deliverAll(bench), "later after", "what is delivered after");
    },
  },
  {
    name: "an event with deliverAt in the past is due at once",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"], { deliverAt: new Date(Date.UTC(1990, 0, 1)) });
      await publish(bench, ["e2"]);
      same(await deliverAll(bench), "e1 e2", "what is delivered");
    },
  },
  {
    name: "an event with deliverAt goes to the endpoints that there are when it is due",
    async check(bench) {
      await addEndpoint(bench, { id: "ep_old" });
      await publish(bench, ["later"], { deliverAt: await dateAfter(bench, 2) });
      await outboxOf(bench).removeEndpoint("ep_old");
      await addEndpoint(bench, { id: "ep_new" });
      await passTicks(bench, 3);
      await sequenceAll(bench);
      same((await claimOne(bench)).consumer.id, "ep_new", "who gets it");
    },
  },
  {
    name: "a claim says how long until its event expires, and an expired one is still claimed",
    async check(bench) {
      await addEndpoint(bench);
      const expiresAt = await dateAfter(bench, 2);
      await publish(bench, ["e1"], { expiresAt });
      await publish(bench, ["e2"], { key: "never" });
      const { claims } = await claim(bench);
      const [one, two] = claims.toSorted((a, b) => (heads([a]) < heads([b]) ? -1 : 1));
      holds(one !== undefined && two !== undefined, `Claimed ${heads(claims)}, not both`);
      const left = one.run[0].expiresInMs;
      holds(left !== undefined && left > 0 && left <= ticksMs(bench, 2), `It says ${left} ms are left`);
      same(two.run[0].expiresInMs, undefined, "until an event expires that never does");
      await acknowledge(bench, two);
      await fail(bench, one);
      await passTicks(bench, 3);
      const expired = (await claimOne(bench)).run[0].expiresInMs;
      holds(expired !== undefined && expired <= 0, `After its time it says ${expired} ms are left`);
    },
  },
  {
    name: "after names the last sequence that was not skipped, and nothing where the lane starts",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3", "e4"]);
      const first = await claimOne(bench);
      same(first.after, undefined, "after at the start of the lane");
      await acknowledge(bench, first);
      const second = await claimOne(bench);
      same(second.after, first.run[0].sequence, "after at the second");
      await settled(bench, second, { rest: { state: "cancelled", because: "expired" } });
      const third = await claimOne(bench);
      same(third.after, first.run[0].sequence, "after behind one that was cancelled");
      await acknowledge(bench, third);
      same((await claimOne(bench)).after, third.run[0].sequence, "after behind one that was acknowledged");
    },
  },
  {
    name: "a lane that was empty goes on with the next sequence",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const first = await claimOne(bench);
      await acknowledge(bench, first);
      await publish(bench, ["other"], { key: "other" });
      await acknowledge(bench, await claimOne(bench));
      await publish(bench, ["e2"]);
      const second = await claimOne(bench);
      same(second.run[0].sequence, first.run[0].sequence + 1n, "the sequence");
      same(second.after, first.run[0].sequence, "after");
      alike([second.id, second.lane], [first.id, first.lane], "the lane");
    },
  },
  {
    name: "events that are sequenced by several at once have one place each",
    async check(bench) {
      await addEndpoint(bench);
      const ids = Array.from({ length: 30 }, (_, n) => `e${n}`);
      for (const id of ids) await outboxOf(bench).append([await eventOf({ id })]);
      await Promise.all([0, 1, 2, 3].map((at) => outboxOf(bench, at).sequence()));
      await sequenceAll(bench);
      same(await deliverAll(bench), ids.join(" "), "what is delivered");
    },
  },
];
