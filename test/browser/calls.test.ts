import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { skipFor } from "../skip-reason.js";
import { noBrowser } from "./browser.js";
import { publishedCalls, recordCalls } from "./calls.js";
import { everyPath, setScene } from "./scene.js";
import { visit } from "./visitor.js";
import type { Visitor } from "./visitor.js";
import { startWorld, until } from "./world.js";
import type { World } from "./world.js";

describe("what pages ask the server", skipFor(noBrowser), () => {
  let world: World;
  let visitor: Visitor;
  beforeAll(async () => {
    world = await startWorld();
    visitor = await visit(world);
    await visitor.page.goto(world.signInUrl);
    await visitor.page.getByRole("heading", { name: "Let the first event land" }).waitFor();
    await setScene(world);
  }, 60_000);
  afterAll(async () => {
    await visitor.leave();
    await world.stop();
  });

  it("the overview needs at most three calls, and none of them waits for another", async () => {
    const { page } = visitor;
    // Counters are written every two seconds: a page that is opened before would ask a second time.
    await until("counters", async () =>
      (await world.client.series()).total.delivered.some((delivered) => delivered > 0),
    );
    const calls = recordCalls(page);
    await visitor.open("/");
    await page.locator(".chart .up").first().waitFor();
    const lastStart = Math.max(...calls.map(({ startedAt }) => startedAt));
    const firstEnd = Math.min(...calls.map(({ endedAt }) => endedAt ?? Infinity));
    expect(calls.map(({ name }) => name).toSorted()).toEqual(["GET /series", "GET /series", "GET /status"]);
    expect(lastStart).toBeLessThan(firstEnd);
  });

  it("every call of every page is one that the OpenAPI document publishes", async () => {
    const calls = recordCalls(visitor.page);
    for (const [, path] of await everyPath(world)) {
      await visitor.open(path);
      await visitor.page.waitForTimeout(150);
    }
    const published = publishedCalls();
    const asked = [...new Set(calls.map(({ name }) => name))];
    expect(asked.length).toBeGreaterThan(15);
    expect(asked.filter((name) => !published.some((pattern) => pattern.test(name)))).toEqual([]);
  });
});
