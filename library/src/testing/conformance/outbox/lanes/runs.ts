import type { Claim } from "../../../../lanes/lane-store.js";
import { alike, holds, same } from "../../expectation.js";
import type { OutboxPledge } from "../harness.js";
import {
  acknowledge,
  addEndpoint,
  claimOne,
  claimsNothing,
  deliverAll,
  deliveryIn,
  fail,
  historyOf,
  outboxOf,
  passLease,
  passTicks,
  publish,
  runOf,
  settle,
  settled,
  ticksMs,
} from "../steps.js";

const RUN = { maxEvents: 3, maxBytes: 1_048_576 };

/** What runs promise: several deliveries of one lane under one claim. */
export const outboxRuns: readonly OutboxPledge[] = [
  {
    name: "a run holds deliveries of one lane in order without a gap, the head first, up to its limit",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3", "e4"]);
      const run = await claimOne(bench, { run: RUN });
      same(runOf(run), "e1 e2 e3", "the run");
      const [head, ...others] = run.run;
      alike(
        others.map(({ sequence }) => sequence),
        [head.sequence + 1n, head.sequence + 2n],
        "the sequences after the head",
      );
    },
  },
  {
    name: "a run has no more bytes than it may, but always the head",
    async check(bench) {
      await addEndpoint(bench);
      const body = new Uint8Array(100);
      await publish(bench, ["e1", "e2", "e3", "e4"], { body });
      const two = await claimOne(bench, { run: { maxEvents: 8, maxBytes: 299 } });
      same(runOf(two), "e1 e2", "a run of at most 299 bytes");
      await acknowledge(bench, two);
      const one = await claimOne(bench, { run: { maxEvents: 8, maxBytes: 10 } });
      same(runOf(one), "e3", "a run of at most 10 bytes");
      await acknowledge(bench, one);
      await publish(bench, ["e5"], { body });
      const fit = await claimOne(bench, { run: { maxEvents: 8, maxBytes: 200 } });
      same(runOf(fit), "e4 e5", "a run of at most 200 bytes");
    },
  },
  {
    name: "a run that was acknowledged as a whole moves the lane behind it, with an attempt of each",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3", "e4"]);
      const run = await claimOne(bench, { run: RUN });
      await acknowledge(bench, run);
      for (const [index, { event }] of run.run.entries()) {
        same(await historyOf(bench, deliveryIn(run, index)), "1.1 acknowledged", `attempts of ${event.id}`);
      }
      const last = await claimOne(bench, { run: RUN });
      same(runOf(last), "e4", "what follows");
      same(last.after, run.run[2]?.sequence, "after");
    },
  },
  {
    name: "a run ends at the first that is not acknowledged, which becomes the head with one attempt",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      const run = await claimOne(bench, { run: RUN });
      const rest = { state: "due", afterMs: ticksMs(bench, 2), counts: true } as const;
      same(await settled(bench, run, { acknowledged: 1, rest, next: true }), undefined, "the next head");
      await claimsNothing(bench, "before the wait was over");
      await passTicks(bench, 3);
      const head = await claimOne(bench, { run: RUN });
      alike([runOf(head), head.attempts, head.failures], ["e2", 1, 1], "the head after the run");
      same(head.after, run.run[0].sequence, "after");
      same(await historyOf(bench, deliveryIn(run, 0)), "1.1 acknowledged", "attempts of the first");
      same(await historyOf(bench, deliveryIn(run, 1)), "1.1 refused", "attempts of the second");
      same(await historyOf(bench, deliveryIn(run, 2)), "", "attempts of the third");
    },
  },
  {
    name: "what of a run was not tried is due at once, as if it had never been claimed",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      await settled(bench, await claimOne(bench, { run: RUN }), { acknowledged: 1 });
      const rest = await claimOne(bench, { run: RUN });
      alike([runOf(rest), rest.attempts, rest.failures], ["e2 e3", 0, 0], "what is due");
    },
  },
  {
    name: "one of a run that dies halts its lane or lets it go on, behind what was acknowledged",
    async check(bench) {
      await addEndpoint(bench);
      for (const policy of ["halt", "skip"] as const) {
        await publish(bench, [`${policy}1`, `${policy}2`, `${policy}3`], { key: policy });
        const run = await claimOne(bench, { run: RUN });
        const rest = { state: "dead", because: "refused", policy } as const;
        await settled(bench, run, { acknowledged: 1, rest });
        const { items } = await outboxOf(bench).deadLetters({ limit: 1 });
        same(items[0]?.eventId, `${policy}2`, "the dead letter");
        same(items[0]?.sequence, run.run[1]?.sequence, "its sequence");
      }
      same(await deliverAll(bench), "skip3", "what is delivered after them");
    },
  },
  {
    name: "the next head of a settlement may be a run",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      const next = await acknowledge(bench, await claimOne(bench), { next: true, run: RUN });
      same(next && runOf(next), "e2 e3", "the next run");
    },
  },
  {
    name: "events that come while a run is under way follow it",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const run = await claimOne(bench, { run: RUN });
      await publish(bench, ["e3"]);
      await claimsNothing(bench, "beside the run");
      await acknowledge(bench, run);
      same(await deliverAll(bench), "e3", "what is delivered after the run");
    },
  },
  {
    name: "there is no run while the head was tried before",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      await fail(bench, await claimOne(bench, { run: RUN }), 1, false);
      await passTicks(bench, 2);
      const head = await claimOne(bench, { run: RUN });
      same(runOf(head), "e1", "the claim of a head that was tried");
      const next = await acknowledge(bench, head, { next: true, run: RUN });
      same(next && runOf(next), "e2 e3", "the claim after it");
    },
  },
  {
    name: "there is no run after a claim that lapsed",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      await claimOne(bench);
      await passLease(bench);
      same(runOf(await claimOne(bench, { run: RUN })), "e1", "the claim after the lapse");
    },
  },
  {
    name: "a run is allowed after a claim that was released",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      await claimOne(bench, { run: RUN });
      same(await outboxOf(bench).release("worker_1", []), 1, "release");
      same(runOf(await claimOne(bench, { run: RUN, worker: "worker_2" })), "e1 e2 e3", "the claim after it");
    },
  },
  {
    name: "a run that lapsed writes no attempt, and each that it held goes by itself from then on",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3", "e4", "e5"]);
      const lapsed = await claimOne(bench, { run: RUN });
      await passLease(bench);
      let head: Claim | undefined = await claimOne(bench, { run: RUN, worker: "worker_2" });
      const held: string[] = [];
      for (let n = 0; n < 3; n++) {
        holds(head !== undefined, `There is no head after ${held.join(" ")}`);
        alike([head.attempts, head.failures], [0, 0], `attempts of ${runOf(head)}`);
        held.push(runOf(head));
        head = await acknowledge(bench, head, { next: true, run: RUN, worker: "worker_2" });
      }
      alike(held, ["e1", "e2", "e3"], "the claims after the run that lapsed");
      for (const index of [0, 1, 2]) {
        same(
          await historyOf(bench, deliveryIn(lapsed, index)),
          "1.1 acknowledged",
          "the attempts of one of them",
        );
      }
      same(head && runOf(head), "e4 e5", "the claim behind them");
      same(
        (await settle(bench, lapsed, { acknowledged: 3 })).kind,
        "stale",
        "the late settlement of the run",
      );
    },
  },
  {
    name: "a run whose lease has ended and was claimed by nobody is settled as a whole",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3", "e4"]);
      const run = await claimOne(bench, { run: RUN });
      await passLease(bench);
      const next = await acknowledge(bench, run, { next: true, run: RUN });
      same(next && runOf(next), "e4", "the next head");
    },
  },
];
