import type { Endpoint } from "../../../outbox/endpoint.js";
import { isPosthornError } from "../../../posthorn-error.js";
import { alike, holds, same } from "../expectation.js";
import type { OutboxBench, OutboxPledge } from "./harness.js";
import {
  acknowledge,
  addEndpoint,
  claim,
  claimOne,
  claimsNothing,
  deliverAll,
  endpointFor,
  eventOf,
  fail,
  heads,
  kill,
  outboxOf,
  passTicks,
  publish,
  sequenceAll,
  settled,
  unmarked,
} from "./steps.js";

/** What endpoints promise: which events they get, and how they stop and go on. */
export const outboxEndpoints: readonly OutboxPledge[] = [
  {
    name: "an endpoint is added once, and is read and listed as it is",
    async check(bench) {
      const endpoint = endpointFor(ODD_ENDPOINT);
      same(await outboxOf(bench).addEndpoint(endpoint), true, "the first addEndpoint");
      same(await outboxOf(bench, 1).addEndpoint(endpointFor({ id: "ep_odd" })), false, "a second of its id");
      alike(
        (await outboxOf(bench, 1).readEndpoints(["ep_none", "ep_odd"])).map(unmarked),
        [endpoint],
        "readEndpoints",
      );
      alike((await outboxOf(bench).listEndpoints({ limit: 10 })).map(unmarked), [endpoint], "listEndpoints");
      alike(await outboxOf(bench).readEndpoints([]), [], "readEndpoints of none");
    },
  },
  {
    name: "endpoints are listed in the order of their ids, after the one that is named",
    async check(bench) {
      for (const id of ["ep_3", "ep_1", "ep_4", "ep_2"]) {
        await addEndpoint(bench, { id, tenant: id === "ep_3" ? "acme" : "default" });
      }
      const list = async (page: Listing): Promise<string> =>
        (await outboxOf(bench).listEndpoints(page)).map(({ id }) => id).join(" ");
      same(await list({ limit: 10 }), "ep_1 ep_2 ep_3 ep_4", "all");
      same(await list({ limit: 2 }), "ep_1 ep_2", "the first page");
      same(await list({ limit: 2, after: "ep_2" }), "ep_3 ep_4", "the second page");
      same(await list({ limit: 2, after: "ep_4" }), "", "the page after the last");
      same(await list({ limit: 10, tenant: "default" }), "ep_1 ep_2 ep_4", "those of a tenant");
      same(await list({ limit: 1, tenant: "default", after: "ep_2" }), "ep_4", "a page of a tenant");
    },
  },
  {
    name: "an endpoint gets what is sequenced after it was added, and nothing earlier",
    async check(bench) {
      await addEndpoint(bench, { id: "ep_old" });
      // Not sequenced before the endpoint comes: adding it must see to that.
      await outboxOf(bench).append([await eventOf({ id: "e1" })]);
      await addEndpoint(bench, { id: "ep_new" });
      await publish(bench, ["e2"]);
      const { claims } = await claim(bench);
      alike(
        claims.map(({ consumer: endpoint, run }) => `${endpoint.id} ${run[0].event.id}`).toSorted(),
        ["ep_new e2", "ep_old e1"],
        "the heads",
      );
    },
  },
  {
    name: "an endpoint gets the events that match one of its sources and one of its types",
    async check(bench) {
      await addEndpoint(bench, { order: "none", sources: ["shop", "b*g"], types: ["order.*", "ping"] });
      const published = [
        ["1", "shop", "order.paid"],
        ["2", "shop", "order."],
        ["3", "shop", "invoice.paid"],
        ["4", "other", "order.paid"],
        ["5", "billing", "ping"],
        ["6", "bag", "pings"],
        ["7", "bg", "ping"],
        ["8", "SHOP", "ping"],
      ] as const;
      for (const [id, source, type] of published) await publish(bench, [id], { source, type });
      same((await deliverAll(bench)).split(" ").toSorted().join(" "), "1 2 5 7", "what it gets");
    },
  },
  {
    name: "every endpoint that matches gets a delivery of its own, and no endpoint of another tenant does",
    async check(bench) {
      for (const id of ["ep_1", "ep_2"]) await addEndpoint(bench, { id });
      await addEndpoint(bench, { id: "ep_3", tenant: "acme" });
      await publish(bench, ["e1"]);
      const { claims } = await claim(bench);
      alike(claims.map(({ consumer: endpoint }) => endpoint.id).toSorted(), ["ep_1", "ep_2"], "who gets it");
      const [one, two] = claims;
      holds(one !== undefined && two !== undefined && one.id !== two.id, "Both are one lane");
      await acknowledge(bench, one);
      await fail(bench, two);
      await passTicks(bench, 2);
      same((await claimOne(bench)).consumer.id, two.consumer.id, "whose delivery is due again");
    },
  },
  {
    name: "an endpoint ordered by key has a lane for each key, and none for events without one",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["a1", "a2"], { key: "a" });
      await publish(bench, ["b1"], { key: "b" });
      await publish(bench, ["n1", "n2"], { key: undefined });
      alike(await placesOf(bench), ["a1 a", "b1 b", "n1 loose", "n2 loose"], "the heads");
    },
  },
  {
    name: "an endpoint ordered as a whole has one lane for all events",
    async check(bench) {
      await addEndpoint(bench, { order: "endpoint" });
      await publish(bench, ["a1"], { key: "a" });
      await publish(bench, ["n1"], { key: undefined });
      await publish(bench, ["b1"], { key: "b" });
      const head = await claimOne(bench);
      same(head.kind, "lane", "the kind of the claim");
      same(head.lane?.key, "ep_a", "the lane's key");
      await acknowledge(bench, head);
      same(await deliverAll(bench), "n1 b1", "what is delivered after the head");
    },
  },
  {
    name: "an endpoint without order has no lanes",
    async check(bench) {
      await addEndpoint(bench, { order: "none" });
      await publish(bench, ["a1", "a2"], { key: "a" });
      alike(await placesOf(bench), ["a1 loose", "a2 loose"], "the heads");
    },
  },
  {
    name: "a change returns the endpoint as it is now, with the next version",
    async check(bench) {
      const endpoint = await addEndpoint(bench, { dead: "park" });
      const change = { url: "https://example.org/", dead: undefined, maxInFlight: 3 };
      const changed = await outboxOf(bench).changeEndpoint("ep_a", change);
      holds(changed !== undefined, "There is no endpoint to be changed");
      alike(unmarked(changed), { ...endpoint, ...change, version: 2 }, "changeEndpoint");
      alike(await outboxOf(bench, 1).readEndpoints(["ep_a"]), [changed], "readEndpoints");
      same(await outboxOf(bench).changeEndpoint("ep_b", change), undefined, "a change of none");
      await publish(bench, ["e1"]);
      alike(unmarked((await claimOne(bench)).consumer), { id: "ep_a", version: 2 }, "the claim's endpoint");
    },
  },
  {
    name: "the order of an endpoint is not changed while anything waits for it",
    async check(bench) {
      await addEndpoint(bench);
      const change = async (): Promise<unknown> =>
        outboxOf(bench)
          .changeEndpoint("ep_a", { order: "none", maxInFlight: 2 })
          .then(
            (changed) => [changed?.order, changed?.maxInFlight],
            (error: unknown) => (isPosthornError(error) ? error.code : error),
          );
      await outboxOf(bench).append([await eventOf({ id: "e1" }), await eventOf({ id: "e2" })]);
      same(await change(), "endpoint_busy", "before they were sequenced");
      await sequenceAll(bench);
      same(await change(), "endpoint_busy", "while both wait");
      const head = await claimOne(bench);
      same(await change(), "endpoint_busy", "while the first is under way");
      await kill(bench, head, "halt");
      same(await change(), "endpoint_busy", "behind a dead head");
      const [endpoint] = await outboxOf(bench).readEndpoints(["ep_a"]);
      alike([endpoint?.order, endpoint?.version], ["key", 1], "the endpoint");
      const unchanged = await outboxOf(bench).changeEndpoint("ep_a", { order: "key" });
      same(unchanged?.order, "key", "a change to the order that it has");
      await outboxOf(bench).skip(head.id, head.run[0].sequence);
      await acknowledge(bench, await claimOne(bench));
      alike(await change(), ["none", 2], "when nothing waits");
    },
  },
  {
    name: "a lane of an endpoint that was removed and added again has a higher generation",
    async check(bench) {
      const generation = async (id: string): Promise<bigint> => {
        await addEndpoint(bench);
        await publish(bench, [id]);
        const claimed = await claimOne(bench);
        await acknowledge(bench, claimed);
        await outboxOf(bench, 1).removeEndpoint("ep_a");
        return claimed.lane?.generation ?? 0n;
      };
      const [first, second] = [await generation("e1"), await generation("e2")];
      holds(second > first, `The generation is ${second}, after ${first}`);
    },
  },
  {
    name: "what was published before a change is sequenced by the old patterns",
    async check(bench) {
      await addEndpoint(bench, { types: ["old"] });
      await outboxOf(bench).append([
        await eventOf({ id: "e1", type: "old" }),
        await eventOf({ id: "e2", type: "new" }),
      ]);
      await outboxOf(bench).changeEndpoint("ep_a", { types: ["new"] });
      await outboxOf(bench).append([
        await eventOf({ id: "e3", type: "old" }),
        await eventOf({ id: "e4", type: "new" }),
      ]);
      await sequenceAll(bench);
      same(await deliverAll(bench), "e1 e4", "what is delivered");
    },
  },
  {
    name: "a change of order holds for events that are sequenced after it",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await deliverAll(bench);
      await outboxOf(bench).changeEndpoint("ep_a", { order: "none" });
      await publish(bench, ["e2", "e3"]);
      alike(await placesOf(bench), ["e2 loose", "e3 loose"], "the heads");
    },
  },
  ...(["paused", "disabled"] as const).map((state): OutboxPledge => ({
    name: `nothing of an endpoint that is ${state} is claimed, and it keeps what waits, in order`,
    async check(bench) {
      await addEndpoint(bench);
      await addEndpoint(bench, { id: "ep_other", tenant: "acme" });
      await publish(bench, ["e1"]);
      await outboxOf(bench).changeEndpoint("ep_a", { state });
      await publish(bench, ["e2"]);
      await publish(bench, ["n1"], { key: undefined });
      await publish(bench, ["o1"], { tenant: "acme" });
      same(heads([await claimOne(bench)]), "o1", "what is claimed of the others");
      await outboxOf(bench).changeEndpoint("ep_a", { state: "active" });
      const delivered = (await deliverAll(bench)).split(" ");
      same(delivered.filter((id) => id !== "n1").join(" "), "e1 e2", "what is delivered in its lane");
      same(delivered.length, 3, "how much is delivered when it is active again");
    },
  })),
  {
    name: "a claim of an endpoint that is paused meanwhile is settled, and gives no next",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const head = await claimOne(bench);
      await outboxOf(bench, 1).changeEndpoint("ep_a", { state: "paused" });
      same(await acknowledge(bench, head, { next: true }), undefined, "the next head");
      await claimsNothing(bench, "of a paused endpoint");
      await outboxOf(bench).changeEndpoint("ep_a", { state: "active" });
      same(await deliverAll(bench), "e2", "what is delivered when it is active again");
    },
  },
  {
    name: "what waits for an endpoint that is removed is cancelled",
    async check(bench) {
      await addEndpoint(bench);
      await addEndpoint(bench, { id: "ep_other" });
      await publish(bench, ["e1", "e2"]);
      await publish(bench, ["n1"], { key: undefined });
      same(await outboxOf(bench).removeEndpoint("ep_a"), true, "removeEndpoint");
      same(await outboxOf(bench, 1).removeEndpoint("ep_a"), false, "removeEndpoint again");
      alike(await outboxOf(bench).readEndpoints(["ep_a"]), [], "readEndpoints");
      const delivered = (await deliverAll(bench)).split(" ").toSorted().join(" ");
      same(delivered, "e1 e2 n1", "what the other endpoint gets");
      await addEndpoint(bench);
      await sequenceAll(bench);
      await claimsNothing(bench, "for an endpoint that is added again under the same id");
    },
  },
  {
    name: "each delivery of an endpoint that is removed is recorded as cancelled",
    needs: ["cancelledListing"],
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      await acknowledge(bench, await claimOne(bench));
      await publish(bench, ["n1"], { key: undefined });
      await outboxOf(bench).removeEndpoint("ep_a");
      const cancelled = (await bench.cancelled?.()) ?? [];
      alike(
        cancelled.map(({ endpointId, eventId, because }) => `${endpointId} ${eventId} ${because}`).toSorted(),
        ["ep_a e2 endpoint_removed", "ep_a n1 endpoint_removed"],
        "what is cancelled",
      );
    },
  },
  {
    name: "a claim of an endpoint that is removed meanwhile leads to nothing more",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const head = await claimOne(bench);
      await outboxOf(bench).removeEndpoint("ep_a");
      const [answer] = await outboxOf(bench).settle({
        worker: "worker_1",
        leaseMs: 60_000,
        run: { maxEvents: 1, maxBytes: 1 },
        settlements: [{ claim: head, attempts: [], acknowledged: 1, rest: undefined, next: true }],
      });
      holds(answer?.kind === "stale" || answer?.next === undefined, "Its settlement gave a next head");
      await claimsNothing(bench, "of an endpoint that was removed");
    },
  },
  {
    name: "a lane of an endpoint that was removed and added again never goes back",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      const seen: bigint[] = [];
      for (let n = 0; n < 3; n++) {
        const head = await claimOne(bench);
        seen.push(head.run[0].sequence);
        await acknowledge(bench, head);
      }
      await outboxOf(bench).removeEndpoint("ep_a");
      await addEndpoint(bench);
      await publish(bench, ["e4"]);
      const { sequence } = (await claimOne(bench)).run[0];
      holds(
        seen.every((each) => each < sequence),
        `The new lane begins at ${sequence}, after ${seen.join(", ")}`,
      );
    },
  },
  {
    name: "a settlement as disabled stops the endpoint with its reason, and the delivery stays due",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const rest = { state: "disabled", because: "it answered 410 Gone \u{1f4ef}" } as const;
      same(await settled(bench, await claimOne(bench), { rest, next: true }), undefined, "the next head");
      const [endpoint] = await outboxOf(bench, 1).readEndpoints(["ep_a"]);
      const { state, because, version } = endpoint ?? {};
      alike({ state, because, version }, { ...rest, version: 2 }, "the endpoint");
      await claimsNothing(bench, "of a disabled endpoint");
      await outboxOf(bench).changeEndpoint("ep_a", { state: "active", because: undefined });
      const head = await claimOne(bench);
      alike([heads([head]), head.attempts, head.failures], ["e1", 1, 0], "the head when it is active again");
    },
  },
  {
    name: "a settlement as disabled stops the endpoint also where it is paused",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const head = await claimOne(bench);
      await outboxOf(bench).changeEndpoint("ep_a", { state: "paused" });
      const rest = { state: "disabled", because: "it answered 410" } as const;
      await settled(bench, head, { rest });
      const [endpoint] = await outboxOf(bench, 1).readEndpoints(["ep_a"]);
      const { state, because, version } = endpoint ?? {};
      alike({ state, because, version }, { ...rest, version: 3 }, "the endpoint");
    },
  },
  {
    name: "an endpoint that is disabled keeps its first reason",
    async check(bench) {
      await addEndpoint(bench);
      for (const key of ["a", "b"]) await publish(bench, [key], { key });
      for (const [at, each] of (await claim(bench)).claims.entries()) {
        await settled(bench, each, { rest: { state: "disabled", because: `reason ${at}` }, at });
      }
      const [endpoint] = await outboxOf(bench, 1).readEndpoints(["ep_a"]);
      alike([endpoint?.because, endpoint?.version], ["reason 0", 2], "the endpoint");
    },
  },
];

type Listing = Parameters<ReturnType<typeof outboxOf>["listEndpoints"]>[0];

const ODD_ENDPOINT: Partial<Endpoint> = {
  id: "ep_odd",
  tenant: "caf\u00e9 \u{1f4ef} '; drop table endpoint; --",
  url: "https://example.com/hook?a='b'&c=%22",
  secrets: ["whsec_Zmlyc3RmaXJzdGZpcnN0Zmlyc3Q=", "whsec_c2Vjb25kc2Vjb25kc2Vjb25k"],
  sources: ["{a,b}", '"', "\\", "*"],
  types: ["__proto__", "order.*", "'"],
  order: "endpoint",
  retry: { kind: "list", waitsMs: [0, 1.5, 86_400_000], jitter: 0.25 },
  dead: "park",
  maxInFlight: 10_000,
  state: "paused",
  because: "why not: 'quoted'",
  version: 7,
};

/** Claims everything, and says of each claim its head and its lane's key. */
async function placesOf(bench: OutboxBench): Promise<readonly string[]> {
  const { claims } = await claim(bench);
  return claims.map(({ run, lane }) => `${run[0].event.id} ${lane?.key ?? "loose"}`).toSorted();
}
