import { startApplication } from "./application.js";
import type { World } from "./world.js";
import { until } from "./world.js";

const QUICK = { waitsMs: [50, 100] };

/** A gateway at work: endpoints that answer, one that is broken, lanes that halt, requests that are rejected. */
export async function setScene({ client, receiver, url, dataDir }: World): Promise<void> {
  const at = (id: string, more: object = {}) => client.endpoints.create({ id, url: receiver.url, ...more });
  await client.sources.create({
    name: "stripe",
    scheme: "stripe",
    secrets: ["whsec_one"],
    key: { json: "/data/object/customer" },
  });
  await client.sources.create({ name: "github", scheme: "github", secrets: ["s3cr3t"] });
  await at("ep_bakery");
  await at("ep_pharmacy", { retry: QUICK });
  await at("ep_market", { types: ["order.*"], order: "none", dead: "skip", retry: QUICK });
  const publish = (type: string, key: string, amount: string) =>
    client.events.publish({
      type,
      key,
      source: "stripe",
      body: Buffer.from(
        `{"id":"in_1PXk2eLkdIwHu7ix","object":"invoice","amount_paid":${amount},"currency":"eur","customer":"${key}","lines":[{"sku":"A-1","n":2},{"sku":"B-7","n":1}]}`,
      ).toString("base64"),
      contentType: "application/json",
      headers: { "x-request": "7f3a" },
    });
  for (let n = 0; n < 4; n++) await publish("charge.succeeded", `cus_${n + 1}`, "14900");
  await publish("charge.succeeded", "cus_9", "4900");
  await until("what landed", () => Promise.resolve(receiver.landed.length >= 10));
  receiver.answer(500, '{"error":"db is down","retry":"later"}');
  await publish("invoice.paid", "cus_9", "900719925474099312");
  await publish("order.packed", "cus_52", "1200");
  await until(
    "halted lanes",
    async () => (await client.lanes.list()).items.filter(({ state }) => state === "halted").length >= 2,
  );
  for (let n = 0; n < 12; n++)
    await publish(n % 3 === 0 ? "charge.refunded" : "invoice.paid", "cus_9", String(100 * n));
  await publish("order.sent", "cus_52", "1300");
  for (let n = 0; n < 3; n++) {
    await fetch(`${url}/in/stripe`, {
      method: "POST",
      body: `{"id":"evt_bad_${n}"}`,
      headers: { "stripe-signature": `t=${Math.floor(Date.now() / 1000)},v1=${"0".repeat(64)}` },
    });
  }
  await fetch(`${url}/in/github`, { method: "POST", body: "{}", headers: { "x-github-event": "push" } });
  await until("rejected requests", async () => (await client.rejected.list()).items.length === 4);
  await client.endpoints.create({ id: "ep_library", url: receiver.url, types: ["none.*"] });
  await client.endpoints.pause("ep_library");
  const [group] = (await client.dead.groups()).items;
  await client.dead.note(group?.id ?? "", "their database moved, back at 10");
  await redriveOne({ client });
  await handleSome({ client, dataDir });
  await intervene({ client });
  await client.tokens.create({
    name: "grafana",
    scope: "read",
    expiresAt: new Date(Date.now() + 30 * 86_400_000).toISOString(),
  });
}

/** An application that handles events on the same database: rows of the inbox, a conflict, a handler that fails. */
async function handleSome({ client, dataDir }: Pick<World, "client" | "dataDir">): Promise<void> {
  const application = startApplication(dataDir);
  try {
    await application.receive("in_1PXk2e", { amount: 14900 });
    await application.receive("in_1PXk2e", { amount: 1 });
    await application.receive("in_2QYm7f", { type: "order.packed", order: "2" });
    await application.receive("in_3RZn8g", { type: "cart.left", order: "3" });
    await application.work({ in_1PXk2e: { invoice: "R-2026-118", total: 14900 } });
    await application.receive("in_4SAp9h", { order: "4" });
    await application.receive("in_5TBq0i", { order: "4" });
    await application.work({ in_4SAp9h: new RangeError("no such customer: cus_4") });
    for (const n of [1, 4, 5, 9]) await application.receive(`ord_7_${n}`, { order: "order 7", n }, "orders");
    await application.receive("ord_8_1", { order: "order 8", n: 1 }, "orders");
    await application.receive("ord_8_3", { order: "order 8", n: 3 }, "orders");
    await application.work();
  } finally {
    application.close();
  }
  await until("a halted handler", async () =>
    (await client.consumers.list()).items.some(({ dead }) => dead > 0),
  );
}

/** A gap that was given up, and a handler that a person has paused. */
async function intervene({ client }: Pick<World, "client">): Promise<void> {
  const [held] = (await client.inbox.held({ key: "order 8" })).items;
  await client.inbox.release(held?.id ?? "", { note: "2 was never sent" });
  await client.consumers.pause("hnd_crm", { forMs: 3_600_000, note: "the CRM is being moved" });
}

/** One operation that has ended: a dead letter that is sent again and dies again. */
async function redriveOne({ client }: Pick<World, "client">): Promise<void> {
  const letter = (await client.dead.list({ endpoint: "ep_market" })).items[0];
  const { id } = await client.operations.create({
    verb: "redrive",
    filter: { deliveries: [letter?.id ?? ""] },
    note: "one to try",
  });
  await until("the operation", async () => (await client.operations.get(id)).state === "finished");
  await until(
    "it is dead again",
    async () => (await client.dead.list({ endpoint: "ep_market" })).items.length >= 2,
  );
}

/** Every page of the dashboard, with something on it. */
export async function everyPath({ client }: World): Promise<readonly (readonly [string, string])[]> {
  const letter = (await client.dead.list()).items.find(({ key }) => key === "cus_9");
  const lane = (await client.lanes.list()).items.find(({ headId }) => headId === letter?.id);
  const handled = (await client.lanes.list({ endpoint: "hnd_billing" })).items[0];
  const [operation] = (await client.operations.list()).items;
  const change = (await client.audit.list({ kind: "dead_group" })).items[0];
  const [rejected] = (await client.rejected.list()).items;
  const [held] = (await client.inbox.held()).items;
  const released = (await client.audit.list({ action: "held.release" })).items[0]?.subject.id ?? "";
  return [
    ["overview", "/"],
    ["overview-day", "/?range=24h"],
    ["start", "/start"],
    ["events", "/events"],
    ["events-filtered", "/events?source=stripe"],
    ["event", `/events/${letter?.eventId}`],
    ["event-headers", `/events/${letter?.eventId}?tab=headers`],
    ["event-raw", `/events/${letter?.eventId}?tab=raw`],
    ["delivery", `/deliveries/${letter?.id}`],
    ["lanes", "/lanes"],
    ["lane", `/lanes/${lane?.id}`],
    ["lane-empty", "/lanes/99999"],
    ["dead", "/dead"],
    ["dead-filtered", "/dead?endpoint=ep_pharmacy"],
    ["operations", "/operations"],
    ["operation", `/operations/${operation?.id}`],
    ["tail", "/tail"],
    ["audit", "/audit"],
    ["audit-open", `/audit?open=${change?.id}`],
    ["rejected", "/rejected"],
    ["rejected-request", `/rejected/${rejected?.id}`],
    ["endpoints", "/endpoints"],
    ["endpoint", "/endpoints/ep_pharmacy"],
    ["endpoint-edit", "/endpoints/ep_pharmacy?edit=1"],
    ["endpoint-add", "/endpoints?add=1"],
    ["sources", "/sources"],
    ["source", "/sources/stripe"],
    ["source-add", "/sources?add=1"],
    ["compose", "/compose"],
    ["inbox", "/inbox"],
    ["inbox-filtered", "/inbox?outcome=skipped&consumer=crm"],
    ["inbox-none", "/inbox?type=none"],
    ["inbox-event", "/inbox/shop/in_1PXk2e"],
    ["inbox-event-dead", "/inbox/shop/in_4SAp9h"],
    ["inbox-held", "/inbox/held"],
    ["inbox-refused", "/inbox/refused"],
    ["inbox-refused-none", "/inbox/refused?because=stale"],
    ["inbox-event-held", "/inbox/orders/ord_7_4"],
    ["event-held", `/events/${held?.id}`],
    ["event-released", `/events/${released}`],
    ["consumer-paused", "/consumers/hnd_crm"],
    ["consumers", "/consumers"],
    ["consumer", "/consumers/hnd_billing"],
    ["consumer-none", "/consumers/hnd_none"],
    ["handler-lane", `/lanes/${handled?.id}`],
    ["tokens", "/tokens"],
    ["token-add", "/tokens?add=1"],
    ["settings", "/settings"],
    ["more", "/more"],
    ["not-found", "/sources/none"],
  ];
}
