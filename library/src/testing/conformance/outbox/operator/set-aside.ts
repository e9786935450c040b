import type { SetAsideEvent } from "../../../../operator/set-aside-store.js";
import { alike, holds, same } from "../../expectation.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import {
  addEndpoint,
  dateAfter,
  deliverAll,
  listAll,
  outboxOf,
  passTicks,
  publish,
  sequenceAll,
} from "../steps.js";

/** What could not be sequenced. */
export const outboxSetAside: readonly OutboxPledge[] = [
  {
    name: "an event that cannot be sequenced is set aside, and stops no other",
    needs: ["unplaceable"],
    async check(bench) {
      await addEndpoint(bench);
      const allow = await refuse(bench, "bad");
      await publishLater(bench, ["e1", "bad", "e2"]);
      await allow();
      same(await deliverAll(bench), "e1 e2", "what was delivered");
      same((await outboxOf(bench).census()).staged, 0, "events that wait for their places");
    },
  },
  {
    name: "events that were set aside are listed newest first, page by page, and counted",
    needs: ["unplaceable"],
    async check(bench) {
      await addEndpoint(bench);
      await addEndpoint(bench, { id: "ep_acme", tenant: "acme" });
      same((await listed(bench)).length, 0, "before anything was set aside");
      const allow = await refuse(bench, "bad");
      const deliverAt = await dateAfter(bench, 1);
      await publish(bench, ["bad_1", "bad_2"], { deliverAt });
      await publish(bench, ["bad_3"], { deliverAt, tenant: "acme", type: "order.shipped" });
      await passTicks(bench, 2);
      await sequenceAll(bench);
      await allow();
      const found = await listed(bench);
      alike(
        found.map(({ eventId, tenant, type }) => `${eventId} of ${tenant}: ${type}`).toSorted(),
        ["bad_1 of default: order.paid", "bad_2 of default: order.paid", "bad_3 of acme: order.shipped"],
        "what is listed",
      );
      holds(
        found.every(({ number }, n) => n === 0 || number < (found[n - 1]?.number ?? 0n)),
        "The numbers do not fall",
      );
      holds(
        found.every(({ error }) => error !== ""),
        "It does not say why",
      );
      same((await outboxOf(bench).census()).setAside, 3, "the census");
    },
  },
  {
    name: "an event that was set aside and is redriven takes its place at the end of its lane; a second call changes nothing",
    needs: ["unplaceable"],
    async check(bench) {
      await addEndpoint(bench);
      await setAside(bench, "bad");
      await publish(bench, ["e1"]);
      const [{ number }] = (await listed(bench)) as readonly [SetAsideEvent];
      same(await outboxOf(bench, 1).redriveEvent(number), "staged", "the first redrive");
      same(await outboxOf(bench).redriveEvent(number), "unknown", "the second");
      same((await listed(bench)).length, 0, "what is listed then");
      await sequenceAll(bench);
      same(await deliverAll(bench), "e1 bad", "what was delivered");
    },
  },
  {
    name: "an event that cannot be sequenced once more is set aside once more",
    needs: ["unplaceable"],
    async check(bench) {
      await addEndpoint(bench);
      const allow = await refuse(bench, "bad");
      await publishLater(bench, ["bad"]);
      const [{ number }] = (await listed(bench)) as readonly [SetAsideEvent];
      same(await outboxOf(bench).redriveEvent(number), "staged", "the redrive");
      await sequenceAll(bench);
      const [again] = await listed(bench);
      holds(again !== undefined && again.number > number, "It is not listed under a higher number");
      await allow();
      same(await outboxOf(bench).redriveEvent(again.number), "staged", "the redrive of the other");
      await sequenceAll(bench);
      same(await deliverAll(bench), "bad", "what was delivered");
    },
  },
  {
    name: "an event that was set aside stays until it is redriven and its own window has passed",
    needs: ["unplaceable"],
    async check(bench) {
      await addEndpoint(bench);
      await setAside(bench, "bad");
      await passTicks(bench, 100);
      await removeOld(bench);
      const [{ number }] = (await listed(bench)) as readonly [SetAsideEvent];
      same(await outboxOf(bench).redriveEvent(number), "staged", "the redrive after a long time");
      await sequenceAll(bench);
      same(await deliverAll(bench), "bad", "what was delivered");
    },
  },
  {
    name: "nothing that was set aside has a number that nobody was given",
    async check(bench) {
      for (const number of [0n, 7n, 2n ** 63n - 1n, 2n ** 63n, 10n ** 18n]) {
        same(await outboxOf(bench).redriveEvent(number), "unknown", `the redrive of ${number}`);
      }
    },
  },
];

/** Publishes an event while it cannot be given its places. */
async function setAside(bench: OutboxBench, id: string): Promise<void> {
  const allow = await refuse(bench, id);
  await publishLater(bench, [id]);
  await allow();
}

/** A store that sequences within the publish tells the publisher what cannot be; nobody waits for what is due later. */
async function publishLater(bench: OutboxBench, ids: readonly string[]): Promise<void> {
  await publish(bench, ids, { deliverAt: await dateAfter(bench, 1) });
  await passTicks(bench, 2);
  await sequenceAll(bench);
}

async function refuse(bench: OutboxBench, prefix: string): Promise<() => Promise<void>> {
  holds(bench.refusePlaces !== undefined, "The harness cannot refuse places");
  return bench.refusePlaces(prefix);
}

function listed(bench: OutboxBench): Promise<readonly SetAsideEvent[]> {
  return listAll((page) => outboxOf(bench).setAside(page), 2);
}

async function removeOld(bench: OutboxBench): Promise<void> {
  for (const kind of ["set_aside", "events"] as const) {
    for (let after: string | undefined; ;) {
      const step = await outboxOf(bench).removeOld({ kind, windowMs: 1000, limit: 100, after });
      if (step.kind === "busy" || step.next === undefined) break;
      after = step.next;
    }
  }
}
