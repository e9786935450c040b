import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { skipFor } from "../skip-reason.js";
import { startApplication } from "./application.js";
import { noBrowser } from "./browser.js";
import { visit } from "./visitor.js";
import type { Visitor } from "./visitor.js";
import { startWorld, until } from "./world.js";
import type { World } from "./world.js";

describe("a person with a browser", skipFor(noBrowser), () => {
  let world: World;
  let visitor: Visitor;
  beforeAll(async () => {
    world = await startWorld();
    visitor = await visit(world);
  });
  afterAll(async () => {
    await visitor.leave();
    await world.stop();
  });

  it("is asked for a token, and told when it is wrong", async () => {
    const { page } = visitor;
    await page.goto(world.url);
    await page.getByLabel("Token", { exact: true }).fill("phk_wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("The token is not known here.").waitFor();
    // The browser says in its console that the server answered 401, as it should.
    expect(visitor.faults.splice(0)).toEqual([expect.stringContaining("401")]);
  });

  it("is signed in by the printed link, once, and leaves nothing of it in the address bar", async () => {
    const { page } = visitor;
    await page.goto(world.signInUrl);
    await page.getByRole("heading", { name: "Let the first event land" }).waitFor();
    expect(page.url()).toBe(`${world.url}/start`);
    const cookies = await page.context().cookies();
    expect(cookies).toMatchObject([{ httpOnly: true, sameSite: "Strict" }]);
  });

  it("walks from an empty server to the first event that landed", async () => {
    const { page } = visitor;
    await page.getByRole("button", { name: "Make one" }).click();
    await page.getByRole("button", { name: "Add source stripe" }).click();
    await page.getByText("In Stripe, open Developers").waitFor();
    await page.getByRole("textbox", { name: "Address" }).fill(world.receiver.url);
    await page.getByRole("textbox", { name: "Id", exact: true }).fill("ep_shop");
    await page.getByRole("button", { name: "Add endpoint ep_shop" }).click();
    await page.getByText("signed as Stripe would sign it").waitFor();
    await page.getByRole("button", { name: "Send the sample" }).click();
    await page.getByText(/ep_shop acknowledged it in/).waitFor();
    expect(world.receiver.landed).toHaveLength(1);
    const [event] = (await world.client.events.list()).items;
    expect(event).toMatchObject({ source: "stripe", type: "invoice.paid", key: "cus_first" });
  });

  it("reads its story, and comes back by the browser's own way", async () => {
    const { page } = visitor;
    await page.getByRole("link", { name: "Read its story" }).click();
    await page.getByText(/landed in \d/).waitFor();
    await page.getByText('"amount_paid"').waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Let the first event land" }).waitFor();
  });

  it("mends a lane that halted: redrives its head, and the others follow in order", async () => {
    const { page } = visitor;
    const { client, receiver } = world;
    await client.endpoints.update("ep_shop", { retry: { waitsMs: [20] } });
    receiver.answer(500, "db is down");
    const publish = (id: string) => client.events.publish({ type: "order.paid", key: "k", id, data: {} });
    await publish("one");
    await until("a halted lane", async () =>
      (await client.lanes.list()).items.some(({ state }) => state === "halted"),
    );
    await publish("two");
    await publish("three");
    await page.goto(world.url);
    await page.getByRole("heading", { name: /^1 lane is halted; 2 events wait/ }).waitFor();
    await page.getByRole("link", { name: "Look at the lane" }).click();
    await page.getByText("was given up").waitFor();
    receiver.answer(200);
    await page.keyboard.press("r");
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^Redrive #/ })
      .click();
    await page.getByText("is due again at the head of its lane").waitFor();
    await page.getByText("Nothing waits in this lane").waitFor();
    expect(receiver.landed.slice(1)).toEqual(["one", "two", "three"]);
  });

  it("finds an event by a pasted id, and walks by keys", async () => {
    const { page } = visitor;
    await page.keyboard.press("/");
    await page.keyboard.type("webhook-id: two");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "order.paid" }).waitFor();
    expect(page.url()).toBe(`${world.url}/events/two`);
    await page.keyboard.press("g");
    await page.keyboard.press("e");
    await page.getByRole("heading", { name: "Events" }).waitFor();
    await page.locator("[data-row]").first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${world.url}/events/two`);
    await page.keyboard.press("j");
    await page.waitForURL(`${world.url}/events/one`);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
  });

  it("goes anywhere by the palette, with a few letters", async () => {
    const { page } = visitor;
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Command, page or id" }).fill("dead let");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${world.url}/dead`);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Command, page or id" }).fill("ep_sho");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${world.url}/endpoints/ep_shop`);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Command, page or id" }).fill("two");
    await page.getByText("No command has these letters").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`${world.url}/events/two`);
  });

  it("composes an event, signs it with the source's secret, and is shown what came of it", async () => {
    const { page } = visitor;
    await world.client.sources.create({ name: "github", scheme: "github", secrets: ["s3cr3t"] });
    await page.goto(`${world.url}/compose?source=github`);
    await page.getByLabel("Secret of the source").fill("wrong");
    await page.getByRole("button", { name: "Sign and send to github" }).click();
    await page.getByText("See why, among the rejected requests").waitFor();
    await page.getByLabel("Secret of the source").fill("s3cr3t");
    await page.getByRole("button", { name: "Sign and send to github" }).click();
    await page.getByRole("link", { name: "Read its story" }).click();
    await page.getByRole("heading", { name: "push" }).waitFor();
    visitor.faults.splice(
      0,
      visitor.faults.length,
      ...visitor.faults.filter((fault) => !fault.includes("401")),
    );
  });

  it("filters by a click on a value, and no row moves under the pointer", async () => {
    const { page } = visitor;
    await page.goto(`${world.url}/events`);
    await page.getByRole("button", { name: "cus_first" }).first().click();
    await page.waitForURL(/key=cus_first/);
    await page.getByText("1 event", { exact: true }).waitFor();
    await page.locator("[data-row]").first().hover();
    await world.client.events.publish({ type: "invoice.paid", key: "cus_first", id: "later", data: {} });
    await page.getByRole("button", { name: "1 new" }).click();
    await page.getByText("2 events", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Remove the filter key cus_first" }).click();
    await page.waitForURL(`${world.url}/events`);
    await until("the late one", () => Promise.resolve(world.receiver.landed.includes("later")));
  });

  it("redrives dead letters after a plan in words", async () => {
    const { page } = visitor;
    const { client, receiver } = world;
    receiver.answer(500);
    await client.endpoints.update("ep_shop", { dead: "skip" });
    for (const id of ["a", "b", "c"])
      await client.events.publish({ type: "order.sent", key: id, id, data: {} });
    await until("dead letters", async () => (await client.dead.list()).items.length === 3);
    receiver.answer(200);
    await page.goto(`${world.url}/dead?endpoint=ep_shop`);
    await page.getByLabel("Select all that are shown").check();
    await page.getByText("Redrive 3 deliveries of 3 lanes to ep_shop, in order.").waitFor();
    await page.getByRole("button", { name: "Send the oldest one first" }).click();
    await page
      .getByText(/landed: 200 in/)
      .first()
      .waitFor();
    // Lanes go side by side: any of the three may have died first.
    const sent = ["a", "b", "c"].filter((id) => receiver.landed.includes(id));
    expect(sent).toHaveLength(1);
    await page.getByText("Redrive 2 deliveries of 2 lanes to ep_shop, in order.").waitFor();
    await page.getByRole("button", { name: "Redrive 2" }).click();
    await page.getByText("2 due again").first().waitFor();
    await until("they landed", () =>
      Promise.resolve(["a", "b", "c"].every((id) => receiver.landed.includes(id))),
    );
  });

  it("writes a note on a group for everybody, and finds the operation in the history", async () => {
    const { page } = visitor;
    const { client, receiver } = world;
    receiver.answer(404);
    await client.events.publish({ type: "order.sent", key: "n", id: "noted", data: {} });
    await until("a dead letter", async () => (await client.dead.list()).items.length === 1);
    await page.goto(`${world.url}/dead`);
    await page.getByRole("button", { name: "Add a note" }).click();
    await page.getByRole("textbox", { name: "Note", exact: true }).fill("they moved the path");
    await page.keyboard.press("Enter");
    await page.getByText("they moved the path").waitFor();
    expect((await client.dead.groups()).items[0]?.note?.text).toBe("they moved the path");
    await page.getByRole("link", { name: "Redrive 2 to ep_shop" }).first().click();
    await page.getByText("due again, at the end").first().waitFor();
    receiver.answer(200);
    const [letter] = (await client.dead.list()).items;
    await client.redrive(letter?.id ?? "");
  });

  it("follows what happens, pauses it, and sees what came in between", async () => {
    const { page } = visitor;
    await page.goto(`${world.url}/tail`);
    await page.getByText("live", { exact: true }).waitFor();
    const publish = (id: string) =>
      world.client.events.publish({ type: "tail.seen", key: "tail", id, data: {} });
    await publish("tail_1");
    await page.getByRole("link", { name: "tail_1" }).first().waitFor();
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    await publish("tail_2");
    await page.getByRole("button", { name: /Go on, \d new/ }).click();
    await page.getByRole("link", { name: "tail_2" }).first().waitFor();
  });

  it("reads who changed what, before and after, and the settings in force", async () => {
    const { page } = visitor;
    await page.goto(`${world.url}/audit?action=endpoint.update`);
    await page.getByRole("button", { name: "Show what changed" }).first().click();
    await page.locator(".code .ln.add").first().waitFor();
    await page.goto(`${world.url}/settings`);
    await page.getByText("--dev").first().waitFor();
    expect(await page.getByText(world.token).count()).toBe(0);
  });

  it("tests, pauses and removes an endpoint, and is asked before it is gone", async () => {
    const { page } = visitor;
    await page.goto(`${world.url}/endpoints/ep_shop`);
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText(/200 in \d/).waitFor();
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    await page.getByRole("button", { name: "Remove…" }).click();
    await page.getByRole("button", { name: "Remove ep_shop" }).click();
    await page.getByText("ep_shop is removed.").waitFor();
    expect((await world.client.endpoints.list()).items).toEqual([]);
  });

  it("finds an event that waits for others of its key, and lets it go", async () => {
    const { page } = visitor;
    const application = startApplication(world.dataDir);
    try {
      for (const n of [1, 4]) await application.receive(`ord_${n}`, { order: "order 7", n }, "orders");
      await application.work();
      await visitor.open("/inbox");
      await page.getByRole("link", { name: /^Held/ }).click();
      await page.getByText("2 to 3").waitFor();
      await page.getByRole("button", { name: "Release…" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Release 4" }).click();
      await page.getByText("1 event goes on, without 2 to 3.").waitFor();
      await page.getByText("Nothing is held").waitFor();
      await application.work();
    } finally {
      application.close();
    }
    await visitor.open("/inbox/orders/ord_4");
    await page.getByText("It went on without sequences 2 to 3").waitFor();
  });

  it("pauses a handler with a reason, sees who has paused it, and resumes it", async () => {
    const { page } = visitor;
    await visitor.open("/consumers/hnd_crm");
    await page.getByRole("button", { name: "Pause…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("For").selectOption("1 day");
    await dialog.getByLabel("Because").fill("the CRM is being moved");
    await dialog.getByRole("button", { name: "Pause hnd_crm" }).click();
    await page.getByText("hnd_crm is paused; its events wait in order.").waitFor();
    await page.getByText(/It is paused by first.*: the CRM is being moved/).waitFor();
    expect((await world.client.consumers.list()).items.find(({ id }) => id === "hnd_crm")).toMatchObject({
      state: "paused",
      because: "the CRM is being moved",
      pausedBy: "first",
    });
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("hnd_crm is active again.").waitFor();
  });

  it("may only look with a token that may only read, and is told why buttons are grey", async () => {
    const { page } = visitor;
    const { token } = await world.client.tokens.create({ name: "watcher", scope: "read" });
    await page.locator(".menu summary").click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token", { exact: true }).fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.goto(`${world.url}/tokens`);
    const create = page.getByRole("button", { name: "Create token" });
    expect(await create.getAttribute("aria-disabled")).toBe("true");
    await page.getByText("Your token may only read.").first().waitFor();
  });

  it("has met no error, and nothing that the policy had to stop", () => {
    expect(visitor.faults).toEqual([]);
  });
});
