import type { LaneSummary, OutboxCensus } from "../../../../operator/lookup-store.js";
import type { Page } from "../../../../operator/operator-store.js";
import { alike, holds, same } from "../../expectation.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import {
  acknowledge,
  addEndpoint,
  claim,
  claimOne,
  dateAfter,
  deliverAll,
  fail,
  kill,
  listAll,
  outboxOf,
  passTicks,
  publish,
  ticksMs,
} from "../steps.js";

async function keysOf(bench: OutboxBench, filter: { endpointId?: string } = {}, limit = 2): Promise<string> {
  const lanes = await listAll((page: Page) => outboxOf(bench, 1).lanes(filter, page), limit);
  return lanes.map(({ endpointId, key }) => `${endpointId} ${key}`).join(", ");
}

/** The only lane; the one that its id finds must be the same. */
async function laneOf(bench: OutboxBench): Promise<LaneSummary> {
  const [lane, ...others] = (await outboxOf(bench).lanes({}, { limit: 10 })).items;
  holds(lane !== undefined && others.length === 0, "There is not exactly one lane");
  const byId = await outboxOf(bench, 1).lane(lane.id);
  alike(
    [byId?.key, byId?.state, byId?.depth],
    [lane.key, lane.state, lane.depth],
    "the lane that its id finds",
  );
  return lane;
}

async function censusOf(bench: OutboxBench): Promise<Omit<OutboxCensus, "oldestDueMs">> {
  const { oldestDueMs: _, ...counts } = await outboxOf(bench, 1).census();
  return counts;
}

const NOTHING = { staged: 0, held: 0, waiting: 0, blockedLanes: 0, dead: 0, setAside: 0 };

/** What `lanes`, `lane` and `census` promise. */
export const outboxLaneLookups: readonly OutboxPledge[] = [
  {
    name: "lanes in which something waits are listed in the order of their ids, page by page",
    async check(bench) {
      await addEndpoint(bench);
      await addEndpoint(bench, { id: "ep_loose", order: "none" });
      same(await keysOf(bench), "", "lanes before anything was published");
      for (const key of ["a", "b", "c", "d", "e"]) await publish(bench, [`e_${key}`], { key });
      const all = await listAll((page: Page) => outboxOf(bench).lanes({}, page), 100);
      const inOrder = all.toSorted((one, other) => (one.id < other.id ? -1 : 1));
      alike(
        all.map(({ id }) => id),
        inOrder.map(({ id }) => id),
        "the order",
      );
      alike(all.map(({ key }) => key).toSorted(), ["a", "b", "c", "d", "e"], "the keys");
      for (const limit of [1, 2, 5]) {
        const paged = await listAll((page: Page) => outboxOf(bench, 1).lanes({}, page), limit);
        alike(
          paged.map(({ id }) => id),
          all.map(({ id }) => id),
          `by ${limit}`,
        );
      }
    },
  },
  {
    name: "a lane in which nothing waits is not listed",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"], { key: "a" });
      await publish(bench, ["e2"], { key: "b" });
      const lanes = await listAll((page: Page) => outboxOf(bench).lanes({}, page), 10);
      same(
        await deliverAll(bench, { limit: 1 }).then(() => keysOf(bench)),
        "",
        "lanes after everything was delivered",
      );
      for (const { id } of lanes) same(await outboxOf(bench).lane(id), undefined, "a lane that is empty");
      same(await outboxOf(bench).lane(999n), undefined, "a lane that there never was");
      await publish(bench, ["e3"], { key: "b" });
      same(await keysOf(bench), "ep_a b", "lanes after one was published to again");
    },
  },
  {
    name: "lanes of one endpoint are listed where it is named",
    async check(bench) {
      for (const id of ["ep_a", "ep_b"]) await addEndpoint(bench, { id });
      for (const key of ["x", "y", "z"]) await publish(bench, [`e_${key}`], { key });
      for (const endpointId of ["ep_a", "ep_b"]) {
        const keys = (await keysOf(bench, { endpointId })).split(", ").toSorted();
        alike(
          keys,
          ["x", "y", "z"].map((key) => `${endpointId} ${key}`),
          `lanes of ${endpointId}`,
        );
      }
      same(await keysOf(bench, { endpointId: "ep_none" }), "", "lanes of an endpoint that there is not");
      await outboxOf(bench).removeEndpoint("ep_a");
      same(await keysOf(bench, { endpointId: "ep_a" }), "", "lanes of an endpoint that was removed");
    },
  },
  {
    name: "a lane says how it stands, and how much waits in it",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      const flowing = await laneOf(bench);
      const { tenant, endpointId, key, state, depth, failures, blockedMs, dueInMs } = flowing;
      alike(
        [tenant, endpointId, key, state, depth, failures, blockedMs, dueInMs],
        ["default", "ep_a", "k", "flowing", 3n, 0, undefined, 0],
        "a lane that moves",
      );
      const head = await claimOne(bench);
      alike([flowing.id, flowing.head], [head.id, head.run[0].sequence], "its id and its head");
      const next = await acknowledge(bench, head, { next: true });
      holds(next !== undefined, "There is no next head");
      await fail(bench, next, 2);
      const retrying = await laneOf(bench);
      alike(
        [retrying.state, retrying.depth, retrying.head, retrying.failures],
        ["retrying", 2n, next.run[0].sequence, 1],
        "a lane whose head has failed",
      );
      const { dueInMs: retryInMs = 0 } = retrying;
      holds(
        retryInMs > ticksMs(bench, 1),
        `Its head is due in ${retryInMs} ms, after two ticks were asked for`,
      );
      await passTicks(bench, 3);
      holds(
        ((await laneOf(bench)).blockedMs ?? 0) >= ticksMs(bench, 3),
        "It is blocked for less than three ticks",
      );
    },
  },
  {
    name: "a lane whose head is dead is halted or parked, and one whose endpoint is stopped has its state",
    async check(bench) {
      await addEndpoint(bench);
      for (const [policy, state] of [
        ["halt", "halted"],
        ["park", "parked"],
      ] as const) {
        await publish(bench, ["dead"], { key: policy });
        await kill(bench, await claimOne(bench), policy);
        const lane = (await outboxOf(bench).lanes({}, { limit: 10 })).items.find(({ key }) => key === policy);
        const seen = [lane?.state, lane?.depth, lane?.failures, lane?.dueInMs];
        alike(seen, [state, 1n, 1, undefined], `a lane under ${policy}`);
        const { blockedMs = Infinity } = lane ?? {};
        holds(blockedMs < ticksMs(bench, 1), `A lane under ${policy} is blocked for ${blockedMs} ms`);
      }
      await addEndpoint(bench, { id: "ep_b", tenant: "acme" });
      await publish(bench, ["e1"], { tenant: "acme" });
      for (const state of ["paused", "disabled", "active"] as const) {
        await outboxOf(bench).changeEndpoint("ep_b", { state });
        const [lane] = (await outboxOf(bench).lanes({ endpointId: "ep_b" }, { limit: 10 })).items;
        const moves = state === "active";
        alike(
          [lane?.state, lane?.dueInMs, lane?.blockedMs === undefined],
          [moves ? "flowing" : state, moves ? 0 : undefined, moves],
          `a lane whose endpoint is ${state}`,
        );
      }
    },
  },
  {
    name: "a lane says how long it is blocked, as blockedLanes does",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const head = await claimOne(bench);
      await outboxOf(bench).changeEndpoint("ep_a", { state: "paused" });
      await passTicks(bench, 2);
      await fail(bench, head, 100);
      await passTicks(bench, 3);
      const { state, blockedMs = 0 } = await laneOf(bench);
      const [listed] = (await outboxOf(bench).blockedLanes({ limit: 1 })).items;
      same(state, listed?.state, "the state");
      const apartMs = Math.abs(blockedMs - (listed?.blockedMs ?? 0));
      holds(
        apartMs < ticksMs(bench, 0.5),
        `It says ${blockedMs} ms, and blockedLanes ${listed?.blockedMs} ms`,
      );
      holds(
        Math.abs(blockedMs - ticksMs(bench, 3)) < ticksMs(bench, 0.5),
        `It says ${blockedMs} ms after three ticks`,
      );
    },
  },
  {
    name: "a lane of which something is under way is due in 0 ms",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await claimOne(bench);
      alike([(await laneOf(bench)).state, (await laneOf(bench)).dueInMs], ["flowing", 0], "the lane");
    },
  },
  {
    name: "the census counts what waits, what is blocked and what is dead",
    async check(bench) {
      alike(await outboxOf(bench).census(), { ...NOTHING, oldestDueMs: 0 }, "an empty outbox");
      await addEndpoint(bench);
      await addEndpoint(bench, { id: "ep_loose", order: "none" });
      await publish(bench, ["e1", "e2", "e3"]);
      alike(await censusOf(bench), { ...NOTHING, waiting: 6 }, "six deliveries");
      const { claims } = await claim(bench);
      alike(await censusOf(bench), { ...NOTHING, waiting: 6 }, "four of them under way");
      const lane = claims.find(({ kind }) => kind === "lane");
      const [one, two] = claims.filter(({ kind }) => kind === "loose");
      holds(lane !== undefined && one !== undefined && two !== undefined, "Not all were claimed");
      await fail(bench, lane, 1);
      await kill(bench, one);
      await acknowledge(bench, two);
      alike(await censusOf(bench), { ...NOTHING, waiting: 4, blockedLanes: 1, dead: 1 }, "after failures");
      await passTicks(bench, 2);
      await kill(bench, await claimOne(bench, { limit: 1 }));
      alike(
        await censusOf(bench),
        { ...NOTHING, waiting: 3, blockedLanes: 1, dead: 2 },
        "with a lane halted",
      );
    },
  },
  {
    name: "the census says how long the longest due delivery has been due",
    async check(bench) {
      await addEndpoint(bench);
      await addEndpoint(bench, { id: "ep_paused", state: "paused", tenant: "acme" });
      await publish(bench, ["e0"], { tenant: "acme" });
      await passTicks(bench, 5);
      same((await outboxOf(bench).census()).oldestDueMs, 0, "while nothing is due");
      await publish(bench, ["e1"]);
      await passTicks(bench, 2);
      await publish(bench, ["e2"], { key: "other" });
      const { oldestDueMs } = await outboxOf(bench).census();
      const [least, most] = [ticksMs(bench, 2), ticksMs(bench, 3)];
      holds(oldestDueMs >= least && oldestDueMs < most, `It says ${oldestDueMs} ms after two ticks`);
    },
  },
  {
    name: "the census counts events that have no places yet",
    async check(bench) {
      const deliverAt = await dateAfter(bench, 2);
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"], { deliverAt });
      same((await outboxOf(bench).census()).staged, 2, "events that wait for their time");
      await passTicks(bench, 3);
      await publish(bench, ["e3"]);
      alike(await censusOf(bench), { ...NOTHING, waiting: 3 }, "when they have their places");
    },
  },
];
