import { sha256 } from "#crypto";
import { utf8 } from "../../../../bytes.js";
import type { HandlerConsumer } from "../../../../lanes/handler-consumer.js";
import { LAPSES_BEFORE_ALONE } from "../../../../lanes/lane.js";
import { ENDPOINTS } from "../../../../lanes/lane-store.js";
import type { Claimable } from "../../../../lanes/lane-store.js";
import type { OutgoingEvent } from "../../../../outbox/outgoing-event.js";
import { alike, holds, same } from "../../expectation.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import {
  acknowledge,
  addEndpoint,
  claim,
  claimOne,
  claimsNothing,
  deliverAll,
  eventOf,
  kill,
  LEASE_TICKS,
  listAll,
  outboxOf,
  passLease,
  passTicks,
  publish,
  sequenceAll,
  ticksMs,
} from "../steps.js";

/** What handlers as consumers promise: who gets which events, and who claims whose lanes. */
export const outboxHandlers: readonly OutboxPledge[] = [
  {
    name: "what was stored for handlers goes to them, of every tenant, and to no endpoint",
    async check(bench) {
      await addEndpoint(bench);
      await register(bench, {});
      await store(bench, ["e1"]);
      await store(bench, ["e2"], { tenant: "other" });
      await publish(bench, ["p1"]);
      alike((await deliverAll(bench, { of: A })).split(" ").toSorted(), ["e1", "e2"], "of the handler");
      same(await deliverAll(bench), "p1", "of the endpoint");
    },
  },
  {
    name: "a handler gets every type of the sources that it names, and nothing of others",
    async check(bench) {
      await register(bench, { sources: ["stripe", "git*"], types: ["invoice.paid"] });
      await store(bench, ["e1"], { type: "invoice.paid", key: "1" });
      await store(bench, ["e2"], { type: "anything", source: "github", key: "2" });
      await store(bench, ["e3"], { source: "shopify", key: "3" });
      alike((await deliverAll(bench, { of: A })).split(" ").toSorted(), ["e1", "e2"], "of the handler");
    },
  },
  {
    name: "a handler's lanes are of tenant, source and key",
    async check(bench) {
      await register(bench, {});
      await store(bench, ["e1", "e2"]);
      await store(bench, ["t1"], { tenant: "other" });
      await store(bench, ["s1"], { source: "github" });
      await store(bench, ["n1"], { key: undefined });
      const { claims } = await claim(bench, { of: A, run: { maxEvents: 8, maxBytes: 1_048_576 } });
      const runs = claims.map(({ run }) => run.map(({ event }) => event.id).join(" "));
      alike(runs.toSorted(), ["e1 e2", "n1", "s1", "t1"], "the runs");
    },
  },
  {
    name: "each of several handlers has its own lane of an event",
    async check(bench) {
      await register(bench, {}, { id: "hnd_b" });
      await store(bench, ["e1", "e2"]);
      await kill(bench, await claimOne(bench, { of: A }));
      same(await deliverAll(bench, { of: B }), "e1 e2", "of the other handler");
      await claimsNothing(bench, "of the one whose head is dead", { of: A });
    },
  },
  {
    name: "a dispatcher claims no handler, and a worker claims no endpoint and no handler that it does not name",
    async check(bench) {
      await addEndpoint(bench);
      await register(bench, {}, { id: "hnd_b" });
      await publish(bench, ["p1"]);
      await store(bench, ["e1"]);
      await claimsNothing(bench, "of a handler that is not there", {
        of: { kind: "handler", ids: ["hnd_none"] },
      });
      await claimsNothing(bench, "of an endpoint, by its id", { of: { kind: "handler", ids: ["ep_a"] } });
      same((await claimOne(bench)).consumer.id, "ep_a", "what a dispatcher claims");
      same((await claimOne(bench, { of: B })).consumer.id, "hnd_b", "what a worker claims");
    },
  },
  {
    name: "untilDue speaks of those alone whose lanes the worker takes",
    async check(bench) {
      await addEndpoint(bench);
      await register(bench, {}, { id: "hnd_b" });
      await store(bench, ["e1"]);
      const outbox = outboxOf(bench);
      same(await outbox.untilDue(ENDPOINTS), undefined, "untilDue of a dispatcher");
      same(await outbox.untilDue(A), 0, "untilDue of a worker");
      await claimOne(bench, { of: A });
      const leasedMs = (await outbox.untilDue(A)) ?? 0;
      holds(leasedMs > 0 && leasedMs <= ticksMs(bench, LEASE_TICKS), `untilDue of a lease is ${leasedMs}`);
      same(await outbox.untilDue(B), 0, "untilDue of the other handler");
    },
  },
  {
    name: "what lapsed too often at a handler waits for its own workers",
    async check(bench) {
      await addEndpoint(bench);
      await register(bench, {});
      await store(bench, ["e1"]);
      for (let lapse = 0; lapse < 3; lapse++) {
        await claimOne(bench, { of: A });
        await passLease(bench);
      }
      same((await claim(bench)).lapsed, false, "lapsed, to a dispatcher");
      alike((await claim(bench, { alone: true })).claims, [], "what a dispatcher claims alone");
      same((await claim(bench, { of: A })).lapsed, true, "lapsed, to a worker");
      same((await claimOne(bench, { of: A, alone: true })).run[0].event.id, "e1", "what is claimed alone");
    },
  },
  {
    name: "what lapsed too often at one handler, however much, keeps nothing that lapsed at another waiting",
    async check(bench) {
      await register(bench, { sources: ["stripe"] }, { id: "hnd_b", sources: ["github"] });
      for (let n = 0; n < MORE_THAN_A_CLAIM_LOOKS_AT; n++) await store(bench, [`e${n}`], { key: `k${n}` });
      await store(bench, ["b1"], { source: "github" });
      for (let lapse = 0; lapse < LAPSES_BEFORE_ALONE; lapse++) {
        await claim(bench, { of: A });
        // So that those of the other handler have waited longer.
        await passTicks(bench, 1);
        await claim(bench, { of: B });
        await passLease(bench);
      }
      await claim(bench, { of: A });
      same(
        (await claim(bench, { of: B })).lapsed,
        true,
        "lapsed, to the worker of the one that has a worker",
      );
      same((await claimOne(bench, { of: B, alone: true })).run[0].event.id, "b1", "what is claimed alone");
    },
  },
  {
    name: "what was stored before a handler is registered takes its place, in its order, when one is",
    async check(bench) {
      await store(bench, ["e1", "e2"]);
      await store(bench, ["s1"], { source: "github" });
      await register(bench, { sources: ["stripe"] });
      await store(bench, ["e3"]);
      same(await deliverAll(bench, { of: A }), "e1 e2 e3", "of the first handler");
      await register(bench, { id: "hnd_b", sources: ["github"] });
      await sequenceAll(bench);
      same(await deliverAll(bench, { of: B }), "s1", "of the one that came later");
    },
  },
  {
    name: "what no handler names stays set aside, and is sequenced no second time, where handlers register other words or sources",
    async check(bench) {
      await store(bench, ["s1"], { source: "github" });
      await register(bench, { sources: ["stripe"] });
      await sequenceAll(bench);
      await register(bench, { sources: ["stripe"], types: ["b"] }, { id: "hnd_b", sources: ["shop"] });
      same((await outboxOf(bench).sequence()).events, 0, "how many are sequenced");
      await sequenceAll(bench);
      same((await outboxOf(bench).census()).setAside, 1, "how many are set aside");
      await register(bench, { id: "hnd_b", sources: ["shop", "git*"] });
      await sequenceAll(bench);
      same(await deliverAll(bench, { of: B }), "s1", "of the handler that names it");
    },
  },
  {
    name: "a handler that is registered in the same words is left as it is, and one in others is changed",
    async check(bench) {
      const outbox = outboxOf(bench);
      await register(bench, { types: ["a"] });
      const [first] = await outbox.readHandlers();
      await register(bench, { types: ["a"] });
      alike(await outboxOf(bench, 1).readHandlers(["hnd_a"]), [first], "after the same words");
      await register(bench, { types: ["b"], order: "none" });
      const [second] = await outbox.readHandlers(["hnd_a"]);
      alike(
        second?.versions.map(({ types }) => types),
        [["b"], ["a"]],
        "its versions",
      );
      alike([second?.order, second?.state], ["key", "active"], "what it is now");
      holds((second?.version ?? 0) > (first?.version ?? 0), "Its version has not grown");
      alike(await outbox.readEndpoints(["hnd_a"]), [], "endpoints of that id");
    },
  },
  {
    name: "versions of the host that register a handler in other words count together, whichever spoke last",
    async check(bench) {
      const older = { sources: ["shop"], types: ["a"], order: "none", dead: "skip" } as const;
      const newer = { sources: ["shop", "pay"], types: ["pay:a", "shop:a"] } as const;
      await register(bench, {}, { id: "hnd_b" });
      await register(bench, { ...newer, id: "hnd_c" });
      await register(bench, { ...older, id: "hnd_c" });
      const [before] = await outboxOf(bench).readHandlers(["hnd_c"]);
      for (const words of [newer, older]) await register(bench, { ...words, id: "hnd_c" });
      const [handler] = await outboxOf(bench, 1).readHandlers(["hnd_c"]);
      alike(handler, before, "after both have said the same again");
      alike(handler?.sources.toSorted(), ["pay", "shop"], "its sources");
      alike([handler?.order, handler?.dead], ["key", undefined], "its order and dead policy");
      alike(
        handler?.versions.map(({ types }) => types),
        [older.types, newer.types],
        "what each handles",
      );
      await store(bench, ["e1", "e2"], { source: "pay" });
      const of: Claimable = { kind: "handler", ids: ["hnd_c"] };
      same(
        (await claimOne(bench, { of })).lane?.key,
        "k",
        "the lane of a source that the older one does not name",
      );
    },
  },
  {
    name: "a worker gets as much of a handler as it asks for, whatever others have under way",
    async check(bench) {
      await register(bench, {});
      for (let n = 0; n < 6; n++) await store(bench, [`e${n}`], { key: `k${n}` });
      const first = await claim(bench, { of: A, limit: 2, inFlight: new Map([["hnd_a", 10_000]]) });
      const second = await claim(bench, { of: A, worker: "worker_2", limit: 100 });
      alike([first.claims.length, second.claims.length], [2, 4], "how much each got");
    },
  },
  {
    name: "a dead letter of a handler is listed, and its redrive goes back into its lane",
    async check(bench) {
      await register(bench, {});
      await store(bench, ["e1", "e2"]);
      await kill(bench, await claimOne(bench, { of: A }), "skip");
      await acknowledge(bench, await claimOne(bench, { of: A }));
      const [dead, ...others] = await listAll((page) => outboxOf(bench).deadLetters(page), 10);
      alike([dead?.endpointId, others.length], ["hnd_a", 0], "the dead letter");
      same(await outboxOf(bench).redrive(dead?.id ?? ""), "at_end", "redrive");
      await sequenceAll(bench);
      const again = await claimOne(bench, { of: A });
      alike(
        [again.run[0].event.id, again.run[0].round, again.lane?.key],
        ["e1", 2, "k"],
        "what is due again",
      );
    },
  },
  {
    name: "a dead event of a handler halts or parks its lane alone, and its redrive goes before all that waits behind it",
    async check(bench) {
      await register(bench, {});
      for (const policy of ["halt", "park"] as const) {
        await store(bench, [`${policy}1`, `${policy}2`], { key: policy });
        await kill(bench, await claimOne(bench, { of: A }), policy);
        await store(bench, [`${policy}3`], { key: policy });
      }
      await store(bench, ["other"], { key: "other" });
      same(await deliverAll(bench, { of: A }), "other", "while two lanes stand still");
      for (const { id } of await listAll((page) => outboxOf(bench).deadLetters(page), 10))
        same(await outboxOf(bench).redrive(id), "in_place", `redrive of ${id}`);
      await sequenceAll(bench);
      const went = (await deliverAll(bench, { of: A })).split(" ");
      for (const policy of ["halt", "park"]) {
        const ofLane = went.filter((id) => id.startsWith(policy)).join(" ");
        same(ofLane, `${policy}1 ${policy}2 ${policy}3`, `the lane of ${policy}`);
      }
    },
  },
  {
    name: "what a receiver knew of an event reaches its handler",
    async check(bench) {
      await register(bench, {});
      const { receipt } = await storedEvent("e1");
      await store(bench, ["e1"], { headers: { "x-a": "ä" } });
      const { event } = (await claimOne(bench, { of: A })).run[0];
      alike(event.receipt, receipt, "its receipt");
      alike([event.tenant, event.source, event.headers?.["x-a"]], ["default", "stripe", "ä"], "the event");
      same((await outboxOf(bench).event("default", "e1"))?.direction, "in", "its direction");
    },
  },
];

const MORE_THAN_A_CLAIM_LOOKS_AT = 25;

export const A: Claimable = { kind: "handler", ids: ["hnd_a"] };
export const B: Claimable = { kind: "handler", ids: ["hnd_b"] };

function handlerFor(given: Partial<HandlerConsumer>): HandlerConsumer {
  return {
    id: "hnd_a",
    sources: ["*"],
    types: ["*"],
    order: "key",
    dead: undefined,
    ...given,
  };
}

export async function register(
  bench: OutboxBench,
  ...handlers: readonly Partial<HandlerConsumer>[]
): Promise<void> {
  await outboxOf(bench).register(handlers.map(handlerFor));
}

type Wish = Omit<Partial<OutgoingEvent>, "contentHash">;

/** An event as a receiver stores it: its provider's id has characters that no database keeps as they are. */
export async function storedEvent(id: string, wish: Wish = {}): Promise<OutgoingEvent> {
  const event = await eventOf({ source: "stripe", ...wish, id });
  const receipt = {
    id: `${id}\0\ud800é`,
    storedId: id,
    idPreview: undefined,
    time: new Date(Date.UTC(2029, 11, 31)),
    bodyHash: await sha256(utf8(id)),
    windowS: 3600,
    stamp: {
      lane: { generation: 3n, key: "é", sequence: 2n ** 60n + 1n, after: undefined },
      time: new Date(Date.UTC(2029, 11, 30)),
      attempt: 2,
      replay: false,
    },
    hold: undefined,
  };
  return { receipt, ...event };
}

export async function store(bench: OutboxBench, ids: readonly string[], wish: Wish = {}): Promise<void> {
  for (const id of ids) {
    const event = await storedEvent(id, wish);
    const names = [{ name: `${event.source}/id/${id}`, bodyHash: undefined }] as const;
    same(
      (await outboxOf(bench).ingest({ event, names, windowS: undefined })).kind,
      "stored",
      `ingest of ${id}`,
    );
  }
  await sequenceAll(bench);
}
