import type { BlockedLane } from "../../../../operator/operator-store.js";
import { alike, holds, same } from "../../expectation.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import {
  acknowledge,
  addEndpoint,
  claim,
  claimOne,
  deliverAll,
  fail,
  kill,
  killNext,
  listAll,
  outboxOf,
  passLease,
  passTicks,
  publish,
  settled,
  ticksMs,
} from "../steps.js";

/** What a person sees. */
export const outboxOperators: readonly OutboxPledge[] = [
  {
    name: "lanes that move are not blocked",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      await publish(bench, ["n1"], { key: undefined });
      alike(await blocked(bench), [], "while everything is due");
      const { claims } = await claim(bench);
      alike(await blocked(bench), [], "while everything is under way");
      for (const each of claims) await acknowledge(bench, each);
      alike(await blocked(bench), [], "after a success");
    },
  },
  {
    name: "a lane whose head has failed is listed as retrying, until it succeeds",
    async check(bench) {
      await addEndpoint(bench, { tenant: "acme" });
      await publish(bench, ["e1", "e2", "e3"], { tenant: "acme", key: "order 7" });
      const head = await claimOne(bench);
      await fail(bench, head, 10);
      await passTicks(bench, 2);
      const [lane, ...others] = await blocked(bench);
      same(others.length, 0, "how many more lanes are blocked");
      holds(lane !== undefined, "No lane is blocked");
      const { blockedMs, dueInMs, ...facts } = lane;
      alike(
        facts,
        {
          id: head.id,
          tenant: "acme",
          endpointId: "ep_a",
          key: "order 7",
          state: "retrying",
          depth: 3n,
          head: head.run[0].sequence,
          headEventId: "e1",
          failures: 1,
        },
        "the lane",
      );
      about(blockedMs, ticksMs(bench, 2), "blockedMs");
      holds(dueInMs !== undefined, "It does not say when it is due");
      about(dueInMs, ticksMs(bench, 8), "dueInMs");
      await passTicks(bench, 9);
      await fail(bench, await claimOne(bench), 10);
      const [later] = await blocked(bench);
      same(later?.failures, 2, "failures after the second");
      about(later?.blockedMs ?? 0, ticksMs(bench, 11), "blockedMs after the second failure");
      await passTicks(bench, 11);
      await acknowledge(bench, await claimOne(bench));
      alike(await blocked(bench), [], "after it succeeded");
    },
  },
  {
    name: "a lane whose head is dead is listed as halted or parked, and is never due",
    async check(bench) {
      await addEndpoint(bench);
      for (const [policy, state] of [
        ["halt", "halted"],
        ["park", "parked"],
      ] as const) {
        await publish(bench, [`${policy}1`, `${policy}2`], { key: policy });
        await killNext(bench, policy);
        const lane = (await blocked(bench)).find(({ key }) => key === policy);
        const seen = [lane?.state, lane?.depth, lane?.headEventId, lane?.dueInMs];
        alike(seen, [state, 2n, `${policy}1`, undefined], "the lane");
      }
    },
  },
  {
    name: "a lane whose head is dead shows each of its failures, the last one included; a redrive begins anew",
    async check(bench) {
      await addEndpoint(bench);
      for (const policy of ["halt", "park"] as const) {
        await publish(bench, [`${policy}1`, `${policy}2`], { key: policy });
        await fail(bench, await claimOne(bench));
        await passTicks(bench, 2);
        await killNext(bench, policy);
        same(await failuresOf(bench, policy), 2, "failures of the dead head");
        const [letter] = (await outboxOf(bench).deadLetters({ limit: 1 })).items;
        await outboxOf(bench).redrive(letter?.id ?? "");
        await killNext(bench, policy);
        same(await failuresOf(bench, policy), 1, "failures of its second round");
      }
    },
  },
  {
    name: "a delivery that dies without an attempt has no failure more",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      await fail(bench, await claimOne(bench));
      await passTicks(bench, 2);
      const rest = { state: "dead", because: "unsendable", policy: "halt" } as const;
      await settled(bench, await claimOne(bench), { rest, attempts: [] });
      same((await blocked(bench))[0]?.failures, 1, "failures of the dead head");
    },
  },
  {
    name: "a lane that went on after a dead delivery is not blocked",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      await publish(bench, ["n1"], { key: undefined });
      for (const each of (await claim(bench)).claims) await kill(bench, each, "skip");
      alike(await blocked(bench), [], "what is blocked");
    },
  },
  {
    name: "lanes whose endpoint is stopped are listed with its state",
    async check(bench) {
      for (const state of ["paused", "disabled"] as const) {
        await addEndpoint(bench, { id: `ep_${state}`, types: [state] });
        await publish(bench, [`${state}1`, `${state}2`], { key: state, type: state });
        await outboxOf(bench).changeEndpoint(`ep_${state}`, { state });
        await passTicks(bench, 2);
        const lane = (await blocked(bench)).find(({ key }) => key === state);
        alike([lane?.state, lane?.depth, lane?.headEventId], [state, 2n, `${state}1`], "the lane");
        about(lane?.blockedMs ?? 0, ticksMs(bench, 2), "blockedMs");
        await outboxOf(bench).changeEndpoint(`ep_${state}`, { state: "active" });
        alike(await blocked(bench), [], "when the endpoint is active again");
        await deliverAll(bench);
      }
    },
  },
  {
    name: "a lane whose head has lapsed is listed as retrying, with no failure",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      await claimOne(bench);
      await passLease(bench);
      alike(await blocked(bench), [], "before the lapse is found");
      await claimOne(bench, { worker: "worker_2" });
      await passTicks(bench, 1);
      const [lane] = await blocked(bench);
      alike([lane?.state, lane?.headEventId, lane?.failures], ["retrying", "e1", 0], "the lane");
      about(lane?.blockedMs ?? 0, ticksMs(bench, 1), "blockedMs");
    },
  },
  {
    name: "a lane is blocked since the first failure of the head that it has now",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3", "e4"]);
      await fail(bench, await claimOne(bench), 1);
      await passTicks(bench, 2);
      const run = { maxEvents: 3, maxBytes: 1_048_576 };
      const next = await acknowledge(bench, await claimOne(bench), { next: true, run });
      holds(next?.run.length === 3, "The next head is no run of three");
      await passTicks(bench, 2);
      const rest = { state: "due", afterMs: ticksMs(bench, 100), counts: true } as const;
      await settled(bench, next, { acknowledged: 1, rest });
      await passTicks(bench, 5);
      const [lane] = await blocked(bench);
      alike([lane?.headEventId, lane?.failures, lane?.depth], ["e3", 1, 2n], "the lane");
      about(lane?.blockedMs ?? 0, ticksMs(bench, 5), "blockedMs");
    },
  },
  {
    name: "a lane whose head has failed is blocked since then, also where its endpoint stopped before",
    async check(bench) {
      await addEndpoint(bench);
      for (const key of ["a", "b", "c"]) await publish(bench, [`${key}1`], { key });
      const { claims } = await claim(bench);
      await outboxOf(bench).changeEndpoint("ep_a", { state: "paused" });
      await passTicks(bench, 2);
      for (const each of claims) {
        const key = each.lane?.key;
        if (key === "a") await fail(bench, each, 100);
        else if (key === "b") await kill(bench, each, "halt");
        else await settled(bench, each, {});
      }
      await passTicks(bench, 3);
      const lanes = (await blocked(bench)).toSorted((one, other) => (one.key < other.key ? -1 : 1));
      alike(
        lanes.map(({ key, state, dueInMs }) => `${key} ${state} ${dueInMs}`),
        ["a paused undefined", "b halted undefined", "c paused undefined"],
        "the lanes",
      );
      for (const [at, ticks] of [3, 3, 5].entries()) {
        about(lanes[at]?.blockedMs ?? 0, ticksMs(bench, ticks), `blockedMs of ${lanes[at]?.key}`);
      }
    },
  },
  {
    name: "a lane whose head is tried again at this moment is due in 0 ms",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await fail(bench, await claimOne(bench));
      await passTicks(bench, 2);
      await claimOne(bench);
      const [lane] = await blocked(bench);
      alike([lane?.state, lane?.dueInMs], ["retrying", 0], "the lane");
    },
  },
  {
    name: "blocked lanes are listed longest blocked first, page by page",
    async check(bench) {
      await addEndpoint(bench);
      const keys = ["c", "a", "e", "b", "d"];
      for (const key of keys) {
        await publish(bench, [key], { key });
        await fail(bench, await claimOne(bench), 1000);
        await passTicks(bench, 1);
      }
      for (const limit of [100, 2, 3]) {
        const listed = (await blocked(bench, limit)).map(({ key }) => key);
        alike(listed, keys, `pages of ${limit}`);
      }
    },
  },
];

/** All blocked lanes, by pages of this size. */
function blocked(bench: OutboxBench, limit = 100): Promise<readonly BlockedLane[]> {
  return listAll((page) => outboxOf(bench, 1).blockedLanes(page), limit);
}

async function failuresOf(bench: OutboxBench, key: string): Promise<number | undefined> {
  return (await blocked(bench)).find((each) => each.key === key)?.failures;
}

/** Within a tenth and two seconds: the case itself takes some time. */
function about(found: number, ms: number, what: string): void {
  holds(Math.abs(found - ms) <= ms / 10 + 2000, `${what} is ${found}, not about ${ms}`);
}
