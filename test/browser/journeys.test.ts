import { createHmac } from "node:crypto";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { skipFor } from "../skip-reason.js";
import { noBrowser } from "./browser.js";
import { picture } from "./pictures.js";
import { visit } from "./visitor.js";
import type { Visitor } from "./visitor.js";
import { startWorld, until } from "./world.js";
import type { World } from "./world.js";

const MOST_CLICKS = 6;

describe("from the overview, in at most six clicks, a person", skipFor(noBrowser), () => {
  let world: World;
  let visitor: Visitor;
  let clicks = 0;
  const click = async (target: Locator): Promise<void> => {
    clicks++;
    await target.click();
  };
  const toOverview = async (): Promise<void> => {
    await visitor.open("/");
    clicks = 0;
  };
  beforeAll(async () => {
    world = await startWorld();
    visitor = await visit(world);
    await visitor.page.goto(world.signInUrl);
  });
  beforeEach(() => {
    clicks = 0;
  });
  afterAll(async () => {
    await visitor.leave();
    await world.stop();
  });

  it("lets the first event land", async () => {
    const { page } = visitor;
    // An empty server leads from the overview to the walk by itself.
    await page.getByRole("heading", { name: "Let the first event land" }).waitFor();
    await click(page.getByRole("button", { name: "Make one" }));
    await click(page.getByRole("button", { name: "Add source stripe" }));
    await page.getByRole("textbox", { name: "Address" }).fill(world.receiver.url);
    await page.getByRole("textbox", { name: "Id", exact: true }).fill("ep_shop");
    await click(page.getByRole("button", { name: "Add endpoint ep_shop" }));
    await click(page.getByRole("button", { name: "Send the sample" }));
    await page.getByText(/ep_shop acknowledged it in/).waitFor();
    await picture(page, "first-event");
    expect(world.receiver.landed).toHaveLength(1);
    expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
  });

  it("finds a customer's missing event, and why it is missing", async () => {
    const { page } = visitor;
    const { client, receiver } = world;
    await client.endpoints.update("ep_shop", { retry: { waitsMs: [200, 400] } });
    const publish = (id: string, type: string) =>
      client.events.publish({ id, type, key: "cus_9", source: "stripe", data: INVOICE });
    for (let n = 0; n < 3; n++) await publish(`before_${n}`, "charge.succeeded");
    await until("what landed", () => Promise.resolve(receiver.landed.length >= 4));
    receiver.answer(500, '{"error":"db is down","retry":"later"}');
    await publish("missing", "invoice.paid");
    await until("a halted lane", async () =>
      (await client.lanes.list()).items.some(({ state }) => state === "halted"),
    );
    for (let n = 0; n < 14; n++)
      await publish(`after_${n}`, n % 4 === 0 ? "charge.refunded" : "invoice.paid");
    await toOverview();
    await page.getByRole("heading", { name: /1 lane is halted/ }).waitFor();
    await picture(page, "overview");
    // What the customer sent along in the complaint.
    await page.keyboard.press("/");
    await page.keyboard.type("curl -X POST https://shop.example/hooks -H 'webhook-id: missing' -d '{}'");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "invoice.paid" }).waitFor();
    await page.getByText("Given up").first().waitFor();
    await page.getByText("db is down").first().waitFor();
    await picture(page, "missing-event");
    expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
  });

  it("mends a halted lane", async () => {
    const { page } = visitor;
    const { receiver } = world;
    await toOverview();
    await click(page.getByRole("link", { name: "Look at the lane" }));
    await page.getByText("What you can do").waitFor();
    await page.getByText(/goes next/).waitFor();
    await picture(page, "lane");
    receiver.answer(200);
    await click(page.getByRole("button", { name: /^Redrive #/ }).first());
    await click(page.getByRole("dialog").getByRole("button", { name: /^Redrive #/ }));
    await page.getByText("Nothing waits in this lane").waitFor();
    expect(receiver.landed.slice(4)).toEqual([
      "missing",
      ...Array.from({ length: 14 }, (_, n) => `after_${n}`),
    ]);
    expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
  });

  it("cancels what waits in a lane, and finds who did so in the story", async () => {
    const { page } = visitor;
    const { client, receiver } = world;
    receiver.answer(500);
    const ids = ["doomed_1", "doomed_2", "doomed_3"];
    await client.events.publish(ids.map((id) => ({ id, type: "order.packed", key: "cus_7", data: {} })));
    await until("a halted lane", async () =>
      (await client.lanes.list()).items.some(({ state, key }) => state === "halted" && key === "cus_7"),
    );
    await toOverview();
    await click(page.getByRole("link", { name: "Look at the lane" }));
    await click(page.getByRole("button", { name: "Cancel 3…" }));
    const dialog = page.getByRole("dialog");
    await dialog.getByText("A cancellation cannot be undone.").waitFor();
    await click(dialog.getByRole("button", { name: "Cancel 3" }));
    await page.getByText("Nothing waits in this lane").waitFor();
    receiver.answer(200);
    await visitor.open("/events/doomed_2");
    await page.getByText(/^Cancel of lane \d+ by first/).waitFor();
    expect(receiver.landed.filter((id) => ids.includes(id))).toEqual([]);
    expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
  });

  it("redrives many after an outage, and stops half-way", async () => {
    const { page } = visitor;
    const { client, receiver } = world;
    receiver.answer(503, "starting up");
    await client.endpoints.update("ep_shop", { dead: "skip", retry: { waitsMs: [10] } });
    const ids = Array.from({ length: 60 }, (_, n) => `outage_${n}`);
    await client.events.publish(ids.map((id) => ({ id, type: "order.packed", key: id, data: {} })));
    await until("dead letters", async () => (await client.dead.list()).items.length === ids.length);
    receiver.answer(200);
    await toOverview();
    await click(page.getByRole("link", { name: /^Dead/ }).first());
    await click(page.getByLabel("Select answered 503 at ep_shop"));
    await page.getByText("Redrive 60 deliveries of 60 lanes to ep_shop, in order.").waitFor();
    await page.getByRole("combobox", { name: "At most" }).selectOption("5");
    await picture(page, "redrive-plan");
    await click(page.getByRole("button", { name: "Redrive 60" }));
    // It is the server's: the page may be left, and loaded anew.
    await page.reload();
    await click(page.getByRole("button", { name: "Stop" }));
    await page.getByText(/^stopped$/).waitFor();
    const left = (await client.dead.list({ endpoint: "ep_shop" })).items.length;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(60);
    expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
  });

  it("finds why the signatures of a source fail", async () => {
    const { page } = visitor;
    const { client, url } = world;
    await client.sources.create({ name: "billing", scheme: "stripe", secrets: ["whsec_billing"] });
    // A proxy on the way wrote the body anew: the most frequent cause of all.
    const signed = JSON.stringify({ id: "evt_1", type: "invoice.paid", data: { amount: 14_900 } });
    for (let n = 0; n < 5; n++) {
      const at = Math.floor(Date.now() / 1000);
      const mac = createHmac("sha256", "whsec_billing").update(`${at}.${signed}`).digest("hex");
      const body = JSON.stringify(JSON.parse(signed), null, 2);
      await fetch(`${url}/in/billing`, {
        method: "POST",
        body,
        headers: { "stripe-signature": `t=${at},v1=${mac}`, "content-type": "application/json" },
      });
    }
    await until("rejected requests", async () => (await client.rejected.list()).items.length === 5);
    await toOverview();
    await click(page.getByRole("link", { name: "Rejected" }).first());
    await click(page.locator("[data-row] a[data-open]").first());
    await page.getByRole("heading", { name: "The signature does not match" }).waitFor();
    await page.getByText("What was found").waitFor();
    await page
      .getByText(/JSON\.stringify|written anew|without spaces|compact/i)
      .first()
      .waitFor();
    await picture(page, "rejected");
    expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
  });

  it("takes in again what was rejected, once the secret is mended", async () => {
    const { page } = visitor;
    const { client, url } = world;
    await client.sources.create({ name: "till", scheme: "stripe", secrets: ["whsec_of_the_test_mode"] });
    const body = JSON.stringify({ id: "evt_till", type: "invoice.paid", data: {} });
    const at = Math.floor(Date.now() / 1000);
    const mac = createHmac("sha256", "whsec_of_the_live_mode").update(`${at}.${body}`).digest("hex");
    const headers = { "stripe-signature": `t=${at},v1=${mac}`, "content-type": "application/json" };
    expect((await fetch(`${url}/in/till`, { method: "POST", body, headers })).status).toBe(401);
    await until("a rejected request", async () => {
      const { items } = await client.rejected.list({ source: "till" });
      return items.length === 1;
    });
    await client.sources.update("till", { secrets: ["whsec_of_the_live_mode"] });
    await toOverview();
    await click(page.getByRole("link", { name: "Rejected" }).first());
    await click(page.locator("[data-row]", { hasText: "till" }).locator("a[data-open]").first());
    await click(page.getByRole("button", { name: "Take it in again…" }));
    await click(page.getByRole("dialog").getByRole("button", { name: "Take it in again" }));
    await page.getByRole("heading", { name: "invoice.paid" }).waitFor();
    expect((await client.rejected.list({ source: "till" })).items).toEqual([]);
    expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
  });

  it("has met no error, and nothing that the policy had to stop", () => {
    expect(visitor.faults).toEqual([]);
  });
});

const INVOICE = {
  id: "in_1PXk2eLkdIwHu7ix",
  object: "invoice",
  amount_paid: 14_900,
  currency: "eur",
  customer: "cus_9",
  lines: [
    { sku: "A-1", n: 2 },
    { sku: "B-7", n: 1 },
  ],
};
