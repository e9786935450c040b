import { utf8 } from "../../../../bytes.js";
import type { EventFilter } from "../../../../operator/lookup-store.js";
import type { Page } from "../../../../operator/operator-store.js";
import { alike, holds, same, sameBytes } from "../../expectation.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import {
  addEndpoint,
  deliverAll,
  eventOf,
  listAll,
  outboxOf,
  publish,
  writeInTransaction,
} from "../steps.js";

async function idsOf(bench: OutboxBench, filter: EventFilter, limit = 2): Promise<string> {
  const events = await listAll((page: Page) => outboxOf(bench, 1).events(filter, page), limit);
  return events.map(({ id }) => id).join(" ");
}

/** What `events` and `event` promise. */
export const outboxEventLookups: readonly OutboxPledge[] = [
  {
    name: "published events are listed newest first, page by page",
    async check(bench) {
      await addEndpoint(bench);
      same(await idsOf(bench, {}), "", "events before any was published");
      await publish(bench, ["e1", "e2", "e3"]);
      await writeInTransaction(bench, [
        [await eventOf({ id: "e4" }), await eventOf({ id: "e5", key: undefined })],
      ]);
      await deliverAll(bench);
      for (const limit of [1, 2, 5, 100])
        same(await idsOf(bench, {}, limit), "e5 e4 e3 e2 e1", `by ${limit}`);
      const { next } = await outboxOf(bench).events({}, { limit: 2 });
      await publish(bench, ["e6"]);
      const { items } = await outboxOf(bench).events(
        {},
        { limit: 2, ...(next !== undefined && { after: next }) },
      );
      alike(
        items.map(({ id }) => id),
        ["e3", "e2"],
        "the second page, with one more published meanwhile",
      );
    },
  },
  {
    name: "published events are found by tenant, source, type and key",
    async check(bench) {
      await publish(bench, ["e1"], { key: "k1", type: "order.paid", source: "shop" });
      await publish(bench, ["e2"], { key: "k2", type: "order.sent", source: "shop" });
      await publish(bench, ["e3"], { key: "k1", type: "order.sent", source: "app", tenant: "acme" });
      await publish(bench, ["e4"], { key: undefined, type: "order.paid", source: "app" });
      await publish(bench, ["e5"], { key: "k1", type: "order.sent", source: "shop" });
      const found: readonly (readonly [EventFilter, string])[] = [
        [{ tenant: "default" }, "e5 e4 e2 e1"],
        [{ tenant: "acme" }, "e3"],
        [{ tenant: "nobody" }, ""],
        [{ source: "shop" }, "e5 e2 e1"],
        [{ type: "order.sent" }, "e5 e3 e2"],
        [{ key: "k1" }, "e5 e3 e1"],
        [{ tenant: "default", key: "k1" }, "e5 e1"],
        [{ tenant: "default", key: "k1", type: "order.paid" }, "e1"],
        [{ tenant: "default", type: "order.paid", source: "app" }, "e4"],
        [{ tenant: "acme", source: "shop" }, ""],
        [{ tenant: "default", type: "ORDER.PAID" }, ""],
      ];
      for (const [filter, ids] of found) {
        for (const limit of [1, 10]) same(await idsOf(bench, filter, limit), ids, JSON.stringify(filter));
      }
    },
  },
  {
    name: "a published event is listed with everything but its bytes",
    async check(bench) {
      await addEndpoint(bench);
      const time = new Date(Date.UTC(2030, 5, 1, 12, 0, 0, 7));
      const [deliverAt, expiresAt] = [new Date(Date.UTC(2090, 0, 2)), new Date(Date.UTC(2090, 0, 3))];
      const body = utf8("é\0");
      await publish(bench, ["e1"], { time, deliverAt, expiresAt, body, source: "shop", key: undefined });
      const [found] = (await outboxOf(bench).events({}, { limit: 1 })).items;
      const known = { id: "e1", tenant: "default", source: "shop", type: "order.paid", key: undefined, time };
      const origin = { direction: "out", providerId: undefined, verifiedBy: undefined, causedBy: undefined };
      const wanted = {
        ...known,
        ...origin,
        contentType: "application/json",
        bodyBytes: 3,
        deliverAt,
        expiresAt,
      };
      const { writtenAt: _, ...rest } = found ?? {};
      alike(rest, wanted, "the event in the list");
    },
  },
  {
    name: "an event is read with its bytes and headers, before and after its delivery",
    async check(bench) {
      await addEndpoint(bench);
      const body = new Uint8Array([0, 255, 10, 13]);
      await publish(bench, ["e1"], { body, headers: { "x-a": "b" }, contentType: "text/plain" });
      await publish(bench, ["e2"]);
      for (const when of ["before", "after"]) {
        const event = await outboxOf(bench, 1).event("default", "e1");
        holds(event !== undefined, `There is no event e1 ${when} its delivery`);
        sameBytes(event.body, body, `the body ${when} its delivery`);
        alike(
          [event.headers, event.contentType, event.key, event.deliverAt, event.bodyBytes],
          [{ "x-a": "b" }, "text/plain", "k", undefined, 4],
          `the rest of it ${when} its delivery`,
        );
        await deliverAll(bench);
      }
      alike((await outboxOf(bench).event("default", "e2"))?.headers, {}, "headers of an event without any");
    },
  },
  {
    name: "no event is read that the tenant has not published",
    async check(bench) {
      await publish(bench, ["e1"]);
      await publish(bench, ["e2"], { tenant: "acme" });
      for (const [tenant, id] of [
        ["default", "e2"],
        ["acme", "e1"],
        ["default", "E1"],
        ["nobody", "e1"],
      ] as const) {
        same(await outboxOf(bench).event(tenant, id), undefined, `event ${id} of ${tenant}`);
        alike(await outboxOf(bench).deliveriesOf(tenant, [id]), [], `deliveries of ${id} of ${tenant}`);
      }
    },
  },
];
