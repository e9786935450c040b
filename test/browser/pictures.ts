import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

const folder = fileURLToPath(new URL("../../docs/pictures/", import.meta.url));

/** The pictures of the docs are made anew only when somebody asks for it: `POSTHORN_PICTURES=1`. Bytes of a picture differ with each run. */
const wanted = process.env["POSTHORN_PICTURES"] === "1";

/** Keeps what a page shows now as a picture of the docs. */
export async function picture(page: Page, name: string): Promise<void> {
  if (!wanted) return;
  mkdirSync(folder, { recursive: true });
  // What a person did last hovers or is focused; a picture should show the page.
  await page.mouse.move(2, 2);
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${folder}${name}.png` });
}
