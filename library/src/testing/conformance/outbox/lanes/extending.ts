import { ENDPOINTS } from "../../../../lanes/lane-store.js";
import type { Claim } from "../../../../lanes/lane-store.js";
import { alike, holds, same } from "../../expectation.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import {
  LEASE_TICKS,
  acknowledge,
  addEndpoint,
  claim,
  claimOne,
  claimsNothing,
  dateAfter,
  deliveryIn,
  fail,
  heads,
  outboxOf,
  passLease,
  passTicks,
  publish,
  runOf,
  settled,
  ticksMs,
} from "../steps.js";

/** What `extend` promises. */
export const outboxExtending: readonly OutboxPledge[] = [
  {
    name: "an extended lease is claimed by nobody else until it ends",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      await publish(bench, ["n1"], { key: undefined });
      const { claims } = await claim(bench);
      await passTicks(bench, LEASE_TICKS - 1);
      alike(await extend(bench, claims, { at: 1 }), [true, true], "extend");
      await passTicks(bench, LEASE_TICKS - 1);
      await claimsNothing(bench, "after the end of the first lease", { at: 1, worker: "worker_2" });
      const untilDueMs = (await outboxOf(bench).untilDue(ENDPOINTS)) ?? 0;
      const leftMs = ticksMs(bench, 1);
      holds(Math.abs(untilDueMs - leftMs) < leftMs / 2, `untilDue is ${untilDueMs}, not about ${leftMs}`);
      await passTicks(bench, 2);
      const again = await claim(bench, { worker: "worker_2" });
      alike(
        again.claims.map((each) => heads([each])).toSorted(),
        ["e1", "n1"],
        "what is claimed when it ends",
      );
    },
  },
  {
    name: "an extended lease keeps its epoch, and its settlement counts",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      await publish(bench, ["n1"], { key: undefined });
      const { claims } = await claim(bench, { run: { maxEvents: 2, maxBytes: 1_048_576 } });
      for (let n = 0; n < 3; n++) {
        await passTicks(bench, LEASE_TICKS - 1);
        alike(await extend(bench, claims), [true, true], `extend ${n + 1}`);
      }
      for (const each of claims) await acknowledge(bench, each);
      const next = await claimOne(bench);
      alike([heads([next]), next.attempts], ["e3", 0], "what is left");
      const lane = claims.find(({ kind }) => kind === "lane");
      holds(next.epoch > (lane?.epoch ?? 0n), `The next epoch is ${next.epoch}, after ${lane?.epoch}`);
    },
  },
  {
    name: "a lease that has ended and was claimed by nobody is extended",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const head = await claimOne(bench);
      await passLease(bench);
      alike(await extend(bench, [head]), [true], "extend");
      await claimsNothing(bench, "of an extended lease", { worker: "worker_2" });
      await acknowledge(bench, head);
    },
  },
  {
    name: "extend is false for a lease of another worker, and leaves it as it is",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const head = await claimOne(bench);
      await passTicks(bench, LEASE_TICKS - 1);
      alike(await extend(bench, [head], { worker: "worker_2" }), [false], "extend of another worker");
      await passTicks(bench, 2);
      same(heads([await claimOne(bench, { worker: "worker_2" })]), "e1", "what is claimed at its own end");
    },
  },
  {
    name: "extend is false for a lease that was settled, released or claimed again, one by one",
    async check(bench) {
      await addEndpoint(bench);
      for (const key of ["settled", "failed", "released", "held"])
        await publish(bench, [key, `${key}2`], { key });
      const { claims } = await claim(bench);
      const of = (key: string): Claim => {
        const found = claims.find(({ lane }) => lane?.key === key);
        holds(found !== undefined, `The lane ${key} was not claimed`);
        return found;
      };
      await acknowledge(bench, of("settled"));
      await fail(bench, of("failed"), 100);
      const kept = ["held"].map(of);
      same(await outboxOf(bench).release("worker_1", kept), 1, "release");
      const none = { ...of("held"), id: of("held").id + 1000n };
      const asked = [of("settled"), of("held"), of("released"), of("failed"), none];
      alike(await extend(bench, asked), [false, true, false, false, false], "extend");
      await passTicks(bench, LEASE_TICKS + 1);
      const again = (await claim(bench)).claims.filter(({ lane }) => lane?.key === "held");
      same(again.map(runOf).join(), "held", "what the same worker claims again");
      alike(
        await extend(bench, [of("held"), ...again]),
        [false, true],
        "extend of the old claim and of the new",
      );
    },
  },
  {
    name: "a lapse after an extension starts at the lease's own start, and lasts until its end",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const head = await claimOne(bench);
      await passTicks(bench, LEASE_TICKS - 1);
      alike(await extend(bench, [head]), [true], "extend");
      await passLease(bench);
      same((await claimOne(bench, { worker: "worker_2" })).attempts, 1, "attempts of the next claim");
      const [attempt] = await outboxOf(bench).attempts(deliveryIn(head));
      const leasedAt = await dateAfter(bench, -(LEASE_TICKS - 1 + LEASE_TICKS + 1));
      const lateMs = (attempt?.startedAt.getTime() ?? 0) - leasedAt.getTime();
      holds(Math.abs(lateMs) < ticksMs(bench, 0.25), `It starts ${lateMs} ms after its lease`);
      const { durationMs = 0 } = attempt ?? {};
      const leaseMs = ticksMs(bench, LEASE_TICKS - 1 + LEASE_TICKS);
      holds(
        Math.abs(durationMs - leaseMs) < ticksMs(bench, 0.25),
        `It lasted ${durationMs} ms, not ${leaseMs}`,
      );
    },
  },
  {
    name: "a head whose lease was extended is under way: its skip is intended",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const head = await claimOne(bench);
      await passTicks(bench, LEASE_TICKS - 1);
      await extend(bench, [head]);
      await passTicks(bench, LEASE_TICKS - 1);
      same(await outboxOf(bench).skip(head.id, head.run[0].sequence), "intended", "skip");
      alike(await extend(bench, [head]), [true], "extend after the skip");
      await settled(bench, head, {});
      same(heads([await claimOne(bench)]), "e2", "the head after it");
    },
  },
];

/** Extends leases by as long as a claim has them. */
function extend(
  bench: OutboxBench,
  leases: readonly Claim[],
  { worker = "worker_1", at = 0 }: { readonly worker?: string; readonly at?: number } = {},
): Promise<readonly boolean[]> {
  return outboxOf(bench, at).extend(worker, leases, ticksMs(bench, LEASE_TICKS));
}
