import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isPosthornError } from "posthorn/client";
import { skipFor } from "../skip-reason.js";
import { noBrowser } from "./browser.js";
import { startApplication } from "./application.js";
import type { Deeds } from "./application.js";
import { HOSTILE } from "./hostile-texts.js";
import { visit } from "./visitor.js";
import type { Visitor } from "./visitor.js";
import { startWorld, until } from "./world.js";
import type { World } from "./world.js";

/** What may stand in a header; the rest of a text is replaced. */
const inHeader = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, "?").trim() || "?";

/** Puts every text into every field that a stranger can fill: types, keys, sources, headers, bodies, signatures, answers. */
async function sendAll({ client, receiver, url, dataDir }: World): Promise<void> {
  await client.sources.create({ name: "stripe", scheme: "stripe", secrets: ["whsec_one"] });
  await client.endpoints.create({
    id: "ep_shop",
    url: receiver.url,
    types: ["*", "<b>*"],
    retry: { waitsMs: [20] },
  });
  receiver.answer(500, HOSTILE.join("\n"));
  for (const [n, text] of HOSTILE.entries()) {
    await publish({ client }, text, n);
    await fetch(`${url}/in/stripe`, {
      method: "POST",
      body: text,
      headers: { "stripe-signature": inHeader(text), "x-odd": inHeader(text) },
    });
  }
  await until("dead letters", async () => (await client.dead.list()).items.length === HOSTILE.length);
  await until("rejected requests", async () => (await client.rejected.list()).items.length >= HOSTILE.length);
  await noteAll(client);
  await handleAll(dataDir);
  for (const text of HOSTILE.slice(0, 10)) await client.tokens.create({ name: text, scope: "read" });
}

/** In an application's inbox every text is a type, a key, a result and an error; what is no name of a type is refused. */
async function handleAll(dataDir: string): Promise<void> {
  const application = startApplication(dataDir);
  try {
    const deeds: Record<string, Deeds[string]> = {};
    for (const [n, text] of HOSTILE.entries()) {
      await application.receive(`typed_${n}`, { type: text.slice(0, 200), order: text });
      await application.receive(`handled_${n}`, { order: `order ${n}` });
      deeds[`handled_${n}`] = n % 2 === 0 ? new Error(text) : { [text]: text };
    }
    await application.work(deeds);
  } finally {
    application.close();
  }
}

/** Notes and plans take any text of an operator; what the API refuses is refused in words. */
async function noteAll(client: World["client"]): Promise<void> {
  const [group] = (await client.dead.groups()).items;
  const [letter] = (await client.dead.list()).items;
  for (const text of HOSTILE) {
    const filter = { deliveries: [letter?.id ?? ""] };
    await client.operations
      .create({ verb: "redrive", filter, dryRun: true, note: text.slice(0, 500) })
      .catch((error: unknown) => {
        if (!isPosthornError(error)) throw error;
      });
  }
  for (const text of HOSTILE)
    await client.dead.note(group?.id ?? "", text.slice(0, 1000)).catch((error: unknown) => {
      if (!isPosthornError(error)) throw error;
    });
  await client.dead.note(group?.id ?? "", HOSTILE[0] ?? "");
}

/** Publishes a text in all of its places; where the API refuses it as a name, it stands in the body and the headers still. */
async function publish({ client }: Pick<World, "client">, text: string, n: number): Promise<void> {
  const body = JSON.stringify({ [text]: text, nested: [text, { deep: text }] });
  const event = {
    id: `hostile_${n}`,
    contentType: "application/json",
    body: Buffer.from(body).toString("base64"),
    headers: { "x-hostile": inHeader(text) },
  };
  const name = text.slice(0, 200);
  try {
    await client.events.publish({ ...event, type: name, key: name, source: name });
  } catch (error) {
    if (!isPosthornError(error)) throw error;
    await client.events.publish({ ...event, type: "refused.as.a.name", key: `key ${n}` });
  }
}

describe("text of strangers", skipFor(noBrowser), () => {
  let world: World;
  let visitor: Visitor;
  beforeAll(async () => {
    world = await startWorld();
    await sendAll(world);
    visitor = await visit(world);
    await visitor.page.goto(world.signInUrl);
    await visitor.page.getByRole("heading", { level: 1 }).waitFor();
  }, 120_000);
  afterAll(async () => {
    await visitor.leave();
    await world.stop();
  });

  it("runs nothing and loads nothing on any page that shows it", async () => {
    const { client } = world;
    const lanes = (await client.lanes.list()).items.map(({ id }) => `/lanes/${id}`);
    const dead = (await client.dead.list()).items.map(({ id }) => `/deliveries/${id}`);
    const rejected = (await client.rejected.list()).items.map(({ id }) => `/rejected/${id}`);
    const events = HOSTILE.map((_, n) => `/events/hostile_${n}?tab=headers`);
    const lists = [
      "/",
      "/events",
      "/lanes",
      "/dead",
      "/rejected",
      "/endpoints",
      "/endpoints/ep_shop",
      "/tokens",
      "/operations?state=planned",
      "/audit",
      "/tail",
      "/settings",
      "/sources",
      "/sources/stripe",
      "/inbox",
      "/consumers",
      "/consumers/hnd_billing",
    ];
    const known = await client.inbox.list({ source: "shop", id: "handled_", limit: 100 });
    expect(new Set(known.items.map(({ id }) => id)).size).toBe(HOSTILE.length);
    const inbox = HOSTILE.flatMap((_, n) => [`/inbox/shop/handled_${n}`, `/inbox/shop/typed_${n}`]);
    const filters = HOSTILE.map(
      (text) => `/events?type=${encodeURIComponent(text)}&key=${encodeURIComponent(text)}`,
    );
    const planned = (await client.operations.list({ state: "planned" })).items;
    const operations = planned.slice(0, 10).map(({ id }) => `/operations/${id}`);
    const changes = (await client.audit.list()).items.slice(0, 10).map(({ id }) => `/audit?open=${id}`);
    for (const path of [
      ...changes,
      ...operations,
      ...lists,
      ...events,
      ...lanes,
      ...dead,
      ...rejected,
      ...inbox,
      ...filters,
    ]) {
      await visitor.open(path);
      await visitor.page.evaluate(
        "for (const each of document.querySelectorAll('details')) each.open = true",
      );
    }
    expect(visitor.faults).toEqual([]);
  }, 400_000);

  it("is shown as the text that it is", async () => {
    await visitor.open("/events/hostile_0");
    expect(await visitor.page.getByRole("heading", { level: 1 }).textContent()).toBe(HOSTILE[0]);
    expect(await visitor.page.locator("img, iframe, object, embed, video").count()).toBe(0);
    expect(await visitor.page.locator("#posthorn script, #posthorn style, #posthorn link").count()).toBe(0);
    const misleading = HOSTILE.findIndex((text) => text.startsWith("\u202e"));
    await visitor.open(`/events/hostile_${misleading}`);
    expect(await visitor.page.getByRole("heading", { level: 1 }).textContent()).toContain("\\u202eevil");
  });

  it("finds nothing in the search field and the palette that runs", async () => {
    const { page } = visitor;
    await visitor.open("/tokens");
    for (const text of HOSTILE) {
      await page.locator("#search").fill(text);
      await page.keyboard.press("Enter");
    }
    // Anew: what the last search finds may still come, and leads to another page.
    await visitor.open("/tokens");
    const palette = page.getByRole("combobox", { name: "Command, page or id" });
    // A page that has only just come does not listen to keys yet, and the same keys close a palette that is open.
    const openPalette = async (): Promise<void> => {
      for (let tries = 0; tries < 20 && !(await palette.isVisible()); tries++) {
        await page.keyboard.press("Control+k");
        await palette.waitFor({ timeout: 1000 }).catch(() => undefined);
      }
    };
    for (const text of HOSTILE.slice(0, 10)) {
      await openPalette();
      await palette.fill(text);
      await page.keyboard.press("Enter");
      await page.keyboard.press("Escape");
      // The same keys close it while it is there: no person is as fast as this loop.
      await palette.waitFor({ state: "detached" });
    }
    expect(visitor.faults).toEqual([]);
  });
});
