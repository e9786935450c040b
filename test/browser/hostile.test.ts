import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { skipFor } from "../skip-reason.js";
import { noBrowser } from "./browser.js";
import { visit } from "./visitor.js";
import type { Visitor } from "./visitor.js";
import { startWorld, until } from "./world.js";
import type { World } from "./world.js";

// Each would run, load or break out if a page took it for anything but text.
const HOSTILE = [
  `<img src=x onerror="alert('img')">`,
  `"><svg onload=alert('svg')>`,
  `</script><script>alert('script')</script>`,
  `javascript:alert('link')`,
  `{{constructor.constructor('alert(1)')()}}`,
  `' onmouseover='alert(1)' x='`,
  `\u202eevil\u202c \u200b${"wide ".repeat(10)}`,
];

describe("text of strangers", skipFor(noBrowser), () => {
  let world: World;
  let visitor: Visitor;
  beforeAll(async () => {
    world = await startWorld();
    const { client, receiver, url } = world;
    await client.sources.create({ name: "stripe", scheme: "stripe", secrets: ["whsec_one"] });
    await client.endpoints.create({
      id: "ep_shop",
      url: receiver.url,
      types: ["*", "<b>*"],
      retry: { waitsMs: [20] },
    });
    receiver.answer(500, HOSTILE.join("\n"));
    for (const [n, text] of HOSTILE.entries()) {
      const body = Buffer.from(JSON.stringify({ [text]: text, nested: [text, { deep: text }] })).toString(
        "base64",
      );
      await client.events.publish({
        id: `hostile_${n}`,
        type: text.slice(0, 200),
        key: text.slice(0, 200),
        source: text.slice(0, 200),
        contentType: "application/json",
        body,
        headers: { "x-hostile": text.replaceAll(/[^\x20-\x7e]/g, "?") },
      });
      await fetch(`${url}/in/stripe`, {
        method: "POST",
        body: text,
        headers: {
          "stripe-signature": text.replaceAll(/[^\x20-\x7e]/g, "?"),
          "x-odd": text.replaceAll(/[^\x20-\x7e]/g, "?"),
        },
      });
    }
    await until("dead letters", async () => (await client.dead.list()).items.length === HOSTILE.length);
    await until(
      "rejected requests",
      async () => (await client.rejected.list()).items.length >= HOSTILE.length,
    );
    await client.tokens.create({ name: HOSTILE[0] ?? "", scope: "read" });
    visitor = await visit(world);
    await visitor.page.goto(world.signInUrl);
    await visitor.page.getByRole("heading", { level: 1 }).waitFor();
  });
  afterAll(async () => {
    await visitor.leave();
    await world.stop();
  });

  it("runs nothing and loads nothing on any page that shows it", async () => {
    const { client } = world;
    const lanes = (await client.lanes.list()).items.map(({ id }) => `/lanes/${id}`);
    const dead = (await client.dead.list()).items.map(({ id }) => `/deliveries/${id}`);
    const rejected = (await client.rejected.list()).items.map(({ id }) => `/rejected/${id}`);
    const events = HOSTILE.flatMap((_, n) => [`/events/hostile_${n}`, `/events/hostile_${n}?tab=headers`]);
    const lists = [
      "/",
      "/events",
      "/lanes",
      "/dead",
      "/rejected",
      "/endpoints",
      "/endpoints/ep_shop",
      "/tokens",
      "/sources/stripe",
    ];
    const filters = HOSTILE.map(
      (text) => `/events?type=${encodeURIComponent(text)}&key=${encodeURIComponent(text)}`,
    );
    for (const path of [...lists, ...events, ...lanes, ...dead, ...rejected, ...filters]) {
      await visitor.open(path);
      await visitor.page.evaluate(
        "for (const each of document.querySelectorAll('details')) each.open = true",
      );
    }
    expect(visitor.faults).toEqual([]);
  });

  it("is shown as the text that it is", async () => {
    await visitor.open("/events/hostile_0");
    expect(await visitor.page.getByRole("heading", { level: 1 }).textContent()).toBe(HOSTILE[0]);
    expect(await visitor.page.locator("img").count()).toBe(0);
    expect(await visitor.page.locator("#posthorn script").count()).toBe(0);
    await visitor.open("/events/hostile_6");
    expect(await visitor.page.getByRole("heading", { level: 1 }).textContent()).toContain("\\u202eevil");
  });

  it("finds nothing in the search field that runs", async () => {
    for (const text of HOSTILE) {
      await visitor.page.locator("#search").fill(text);
      await visitor.page.keyboard.press("Enter");
    }
    await visitor.page.waitForTimeout(300);
    expect(visitor.faults.filter((fault) => !fault.includes("404"))).toEqual([]);
  });
});
