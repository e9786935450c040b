import type { DeliverySummary } from "../../../../operator/lookup-store.js";
import { alike, holds, same } from "../../expectation.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import {
  acknowledge,
  addEndpoint,
  claim,
  claimOne,
  dateAfter,
  deliverAll,
  deliveryIn,
  fail,
  kill,
  outboxOf,
  passLease,
  passTicks,
  publish,
  sequenceAll,
  settled,
  ticksMs,
} from "../steps.js";

const MEGABYTE = 1_048_576;

function deliveriesOf(bench: OutboxBench, ...eventIds: string[]): Promise<readonly DeliverySummary[]> {
  return outboxOf(bench, 1).deliveriesOf("default", eventIds);
}

/** The only delivery of an event; the one that its id finds must be the same. */
async function deliveryOf(bench: OutboxBench, eventId = "e1"): Promise<DeliverySummary> {
  const [only, ...others] = await deliveriesOf(bench, eventId);
  holds(only !== undefined && others.length === 0, `${eventId} has not exactly one delivery`);
  const { dueInMs: _due, ...byId } = (await outboxOf(bench).delivery(only.id)) ?? {};
  const { dueInMs: _dueToo, ...listed } = only;
  alike(byId, listed, `the delivery that ${only.id} finds`);
  return only;
}

async function statesOf(bench: OutboxBench, ...eventIds: string[]): Promise<string> {
  const deliveries = await deliveriesOf(bench, ...eventIds);
  return deliveries.map(({ eventId, state }) => `${eventId} ${state}`).join(", ");
}

/** What `deliveriesOf` and `delivery` promise. */
export const outboxDeliveryLookups: readonly OutboxPledge[] = [
  {
    name: "a delivery says how it stands: waiting, under way, retrying, delivered",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const waiting = await deliveryOf(bench);
      alike(
        [waiting.state, waiting.attempts, waiting.dueInMs],
        ["waiting", 0, 0],
        "before its first attempt",
      );
      const head = await claimOne(bench);
      const underWay = await deliveryOf(bench);
      alike([underWay.state, underWay.dueInMs], ["under_way", undefined], "while a worker has it");
      await fail(bench, head, 2);
      const retrying = await deliveryOf(bench);
      alike(
        [retrying.state, retrying.attempts, retrying.lastStatus],
        ["retrying", 1, 500],
        "after a failure",
      );
      const { dueInMs = 0 } = retrying;
      const [least, most] = [ticksMs(bench, 1), ticksMs(bench, 2)];
      holds(dueInMs > least && dueInMs <= most, `It is due in ${dueInMs} ms, after two ticks were asked for`);
      await passTicks(bench, 3);
      await acknowledge(bench, await claimOne(bench));
      const delivered = await deliveryOf(bench);
      alike(
        [delivered.state, delivered.attempts, delivered.lastStatus, delivered.dueInMs, delivered.because],
        ["delivered", 2, 200, undefined, undefined],
        "after its delivery",
      );
    },
  },
  {
    name: "a delivery says which event it is of, where it goes, and in which place",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"], { key: "order_7", type: "order.sent" });
      const head = await claimOne(bench);
      const attempts = [{ ...attempt(head.run[0].sequence), startedAt: new Date(Date.UTC(2031, 0, 1)) }];
      await settled(bench, head, { attempts, rest: { state: "due", afterMs: 1, counts: true } });
      const { dueInMs: _, lastAttemptAt, ...found } = await deliveryOf(bench);
      const wanted = {
        id: deliveryIn(head),
        eventId: "e1",
        endpointId: "ep_a",
        tenant: "default",
        type: "order.sent",
        laneId: head.id,
        key: "order_7",
        sequence: head.run[0].sequence,
        round: 1,
        state: "retrying",
        because: undefined,
        attempts: 1,
        lastStatus: undefined,
        lastError: "timeout",
      };
      alike(found, wanted, "the delivery");
      same(lastAttemptAt?.getTime(), Date.UTC(2031, 0, 1), "when it was last tried");
      same((await deliveryOf(bench, "e2")).sequence, head.run[0].sequence + 1n, "the next one's sequence");
    },
  },
  {
    name: "a delivery behind another of its lane waits, and is not due",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      await fail(bench, await claimOne(bench), 1);
      const { state, attempts, dueInMs, lastStatus } = await deliveryOf(bench, "e2");
      alike([state, attempts, dueInMs, lastStatus], ["waiting", 0, undefined, undefined], "the one behind");
    },
  },
  {
    name: "every delivery of a run is under way, and none behind it",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      const head = await claimOne(bench, { run: { maxEvents: 2, maxBytes: MEGABYTE } });
      same(await statesOf(bench, "e1", "e2", "e3"), "e1 under_way, e2 under_way, e3 waiting", "a run of two");
      await settled(bench, head, { acknowledged: 1, rest: { state: "due", afterMs: 1, counts: true } });
      same(
        await statesOf(bench, "e1", "e2", "e3"),
        "e1 delivered, e2 retrying, e3 waiting",
        "half of it done",
      );
    },
  },
  {
    name: "a delivery whose claim was not settled in time is no longer under way, and is due",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await claimOne(bench);
      await passLease(bench);
      const { state, dueInMs } = await deliveryOf(bench);
      alike([state, dueInMs], ["waiting", 0], "after its lease");
      await claimOne(bench);
      await passLease(bench);
      const again = await deliveryOf(bench);
      alike([again.state, again.attempts, again.dueInMs], ["retrying", 1, 0], "after its second lease");
    },
  },
  {
    name: "a dead delivery says why, also when its lane has gone on",
    async check(bench) {
      await addEndpoint(bench);
      await addEndpoint(bench, { id: "ep_loose", order: "none", types: ["loose"] });
      await publish(bench, ["e1", "e2"]);
      await kill(bench, await claimOne(bench), "skip");
      await kill(bench, await claimOne(bench), "halt");
      for (const eventId of ["e1", "e2"]) {
        const { state, because, attempts, lastStatus, dueInMs } = await deliveryOf(bench, eventId);
        const found = [state, because, attempts, lastStatus, dueInMs];
        alike(found, ["dead", "exhausted", 1, 500, undefined], `the dead delivery of ${eventId}`);
      }
    },
  },
  {
    name: "a cancelled delivery says why",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      await settled(bench, await claimOne(bench), { rest: { state: "cancelled", because: "expired" } });
      const next = await claimOne(bench);
      await outboxOf(bench).release("worker_1", []);
      same(await outboxOf(bench).skip(next.id, next.run[0].sequence), "skipped", "skip");
      const { state, because } = await deliveryOf(bench, "e1");
      alike([state, because], ["cancelled", "expired"], "the expired one");
      const skipped = await deliveryOf(bench, "e2");
      alike([skipped.state, skipped.because], ["cancelled", "skipped"], "the skipped one");
    },
  },
  {
    name: "a delivery without a lane says how it stands",
    async check(bench) {
      await addEndpoint(bench, { order: "none" });
      await publish(bench, ["e1", "e2"]);
      const waiting = await deliveryOf(bench);
      alike(
        [waiting.state, waiting.laneId, waiting.sequence, waiting.dueInMs],
        ["waiting", undefined, undefined, 0],
        "before its first attempt",
      );
      const { claims } = await claim(bench);
      const [one, two] = ["e1", "e2"].map((id) => claims.find(({ run }) => run[0].event.id === id));
      holds(one !== undefined && two !== undefined, "Not both were claimed");
      same(await statesOf(bench, "e1", "e2"), "e1 under_way, e2 under_way", "while a worker has them");
      await fail(bench, one, 1);
      await kill(bench, two);
      same(await statesOf(bench, "e1", "e2"), "e1 retrying, e2 dead", "after their failures");
      same((await deliveryOf(bench, "e2")).because, "exhausted", "why it is dead");
      await passTicks(bench, 2);
      await acknowledge(bench, await claimOne(bench));
      same(await statesOf(bench, "e1"), "e1 delivered", "after its delivery");
      same(await outboxOf(bench).redrive((await deliveryOf(bench, "e2")).id), "at_end", "redrive");
      const redriven = await deliveryOf(bench, "e2");
      alike([redriven.state, redriven.round, redriven.attempts], ["waiting", 2, 0], "the redriven one");
    },
  },
  {
    name: "every delivery of an event is told, at each endpoint, and none of another event",
    async check(bench) {
      await addEndpoint(bench);
      await addEndpoint(bench, { id: "ep_b", types: ["order.sent"] });
      await publish(bench, ["e1"], { type: "order.sent" });
      await publish(bench, ["e2"]);
      await publish(bench, ["nobody"], { tenant: "acme" });
      const places = (await deliveriesOf(bench, "e1")).map(({ endpointId }) => endpointId);
      alike(places.toSorted(), ["ep_a", "ep_b"], "where e1 went");
      alike(
        (await deliveriesOf(bench, "e2")).map(({ endpointId }) => endpointId),
        ["ep_a"],
        "where e2 went",
      );
      alike(await outboxOf(bench).deliveriesOf("acme", ["nobody"]), [], "deliveries of what nobody wants");
      alike(await deliveriesOf(bench), [], "deliveries of no event");
    },
  },
  {
    name: "deliveries of several events are told in the order in which they were sequenced",
    async check(bench) {
      await addEndpoint(bench);
      await addEndpoint(bench, { id: "ep_b", order: "none" });
      for (const id of ["e1", "e2", "e3"]) await publish(bench, [id], { key: id });
      const told = (await deliveriesOf(bench, "e3", "e1", "e2", "e1")).map(({ eventId }) => eventId);
      same(told.join(" "), "e1 e1 e2 e2 e3 e3", "the order");
    },
  },
  {
    name: "no delivery is told of an event that has no places yet",
    async check(bench) {
      const deliverAt = await dateAfter(bench, 2);
      await addEndpoint(bench);
      await publish(bench, ["e1"], { deliverAt });
      alike(await deliveriesOf(bench, "e1"), [], "before it is due");
      await passTicks(bench, 3);
      await sequenceAll(bench);
      same(await statesOf(bench, "e1"), "e1 waiting", "when it is due");
    },
  },
  {
    name: "a delivery is found by its id, and nothing by what is none",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const { id, eventId } = await deliveryOf(bench);
      same(eventId, "e1", `the event of ${id}`);
      for (const none of ["dlv_999_1", "dlv_999", `${id}0`, "e1", "", "dlv_", "dlv_1_2_3"]) {
        same(await outboxOf(bench).delivery(none), undefined, `the delivery ${JSON.stringify(none)}`);
      }
    },
  },
  {
    name: "a delivery that is redriven in its place begins a new round there",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const head = await claimOne(bench);
      await kill(bench, head);
      same(await outboxOf(bench).redrive(deliveryIn(head)), "in_place", "redrive");
      const again = await deliveryOf(bench);
      alike(
        [again.state, again.round, again.attempts, again.because],
        ["waiting", 2, 0, undefined],
        "redriven",
      );
      await acknowledge(bench, await claimOne(bench));
      const delivered = await deliveryOf(bench);
      alike([delivered.state, delivered.round, delivered.attempts], ["delivered", 2, 1], "delivered at last");
    },
  },
  {
    name: "a delivery that is redriven at the end of its lane stays dead in its old place, and is told in the new one",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const head = await claimOne(bench);
      await kill(bench, head, "skip");
      same(await outboxOf(bench).redrive(deliveryIn(head)), "at_end", "redrive");
      await sequenceAll(bench);
      same(await statesOf(bench, "e1"), "e1 dead, e1 waiting", "how both stand");
      same((await outboxOf(bench).delivery(deliveryIn(head)))?.state, "dead", "the old one by its id");
      same(await deliverAll(bench), "e2 e1", "what is delivered");
      const [, second] = await deliveriesOf(bench, "e1");
      alike([second?.state, second?.round], ["delivered", 2], "the new one");
    },
  },
  {
    name: "what became of the deliveries of an endpoint is told also when that was removed",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      await acknowledge(bench, await claimOne(bench));
      await kill(bench, await claimOne(bench));
      await outboxOf(bench).removeEndpoint("ep_a");
      await sequenceAll(bench);
      same(
        await statesOf(bench, "e1", "e2", "e3"),
        "e1 delivered, e2 dead, e3 cancelled",
        "after the removal",
      );
      const [first] = await deliveriesOf(bench, "e1");
      alike([first?.endpointId, first?.dueInMs], ["ep_a", undefined], "where it had gone");
    },
  },
  {
    name: "what waits for an endpoint that is paused is not due",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await outboxOf(bench).changeEndpoint("ep_a", { state: "paused" });
      const { state, dueInMs } = await deliveryOf(bench);
      alike([state, dueInMs], ["waiting", undefined], "the delivery");
    },
  },
];

function attempt(sequence: bigint) {
  const nothing = { status: undefined, answer: undefined };
  return {
    sequence,
    round: 1,
    number: 1,
    durationMs: 3,
    outcome: "unknown",
    error: "timeout",
    ...nothing,
  } as const;
}
