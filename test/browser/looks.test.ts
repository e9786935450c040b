import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { skipFor } from "../skip-reason.js";
import { noBrowser } from "./browser.js";
import { everyPath, setScene } from "./scene.js";
import { visit } from "./visitor.js";
import type { Visitor } from "./visitor.js";
import { startWorld } from "./world.js";
import type { World } from "./world.js";

/** Where the pictures are put; nothing compares them, a person looks at them. */
const folder = process.env["POSTHORN_SHOTS"] ?? join(tmpdir(), "posthorn-shots");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

describe("every page", skipFor(noBrowser), () => {
  let world: World;
  let visitor: Visitor;
  const pages = new Map<string, string>();
  beforeAll(async () => {
    mkdirSync(folder, { recursive: true });
    world = await startWorld();
    visitor = await visit(world);
    await visitor.page.goto(world.signInUrl);
    await visitor.page.getByRole("heading", { name: "Let the first event land" }).waitFor();
    await setScene(world);
    for (const [name, path] of await everyPath(world)) pages.set(name, path);
  }, 60_000);
  afterAll(async () => {
    await visitor.leave();
    await world.stop();
  });

  it.each(["light", "dark"] as const)(
    "fits its window in the %s theme, wide and narrow, and is kept as a picture",
    async (theme) => {
      const { page } = visitor;
      await page.emulateMedia({ colorScheme: theme });
      const wide: string[] = [];
      for (const width of [1280, 360, 768, 1920]) {
        await page.setViewportSize({ width, height: 900 });
        for (const [name, path] of pages) {
          await visitor.open(path);
          await page.waitForTimeout(150);
          const over = await page.evaluate<number>(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth",
          );
          if (over > 0) wide.push(`${path} at ${width} is ${over} too wide`);
          if (width === 1280 || width === 360) {
            await page.screenshot({ path: join(folder, `${name}-${width}-${theme}.png`), fullPage: true });
          }
        }
      }
      expect(wide).toEqual([]);
    },
    180_000,
  );

  it.each(["light", "dark"] as const)(
    "can be used without sight or pointer in the %s theme, as far as axe can tell",
    async (theme) => {
      const { page } = visitor;
      await page.emulateMedia({ colorScheme: theme });
      await page.setViewportSize({ width: 1280, height: 900 });
      const serious: string[] = [];
      for (const path of pages.values()) {
        await visitor.open(path);
        await page.evaluate(axe);
        const { violations } = await page.evaluate<{ violations: readonly Finding[] }>("axe.run(document)");
        for (const { id, impact, nodes } of violations) {
          if (impact === "serious" || impact === "critical")
            serious.push(`${path}: ${id} ${nodes[0]?.html ?? ""}`);
        }
      }
      expect(serious).toEqual([]);
    },
    180_000,
  );

  it("has met no error, and nothing that the policy had to stop", () => {
    expect(visitor.faults).toEqual([]);
  });
});
