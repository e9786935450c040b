import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";

const built = fileURLToPath(new URL("../../server/dist/dashboard/", import.meta.url));
const page = readFileSync(join(built, "index.html"), "utf8");
const zipped = (path: string): number => gzipSync(readFileSync(path), { level: 9 }).length;

/** The files that the document names, and the sprite that the first page draws its icons from. */
function firstFiles(): readonly string[] {
  const named = [...page.matchAll(/"\.\/assets\/([^"]+)"/g)].map(([, name = ""]) => name);
  const sprite = readdirSync(join(built, "assets")).filter((name) => name.startsWith("icons-"));
  return [...named, ...sprite];
}

it("the first page takes at most 120 kB on the wire", () => {
  const files = firstFiles().map((name) => join(built, "assets", name));
  expect(files.length).toBeGreaterThanOrEqual(3);
  const bytes = [join(built, "index.html"), ...files].reduce((sum, path) => sum + zipped(path), 0);
  console.log(`dashboard: ${(bytes / 1000).toFixed(1)} kB gzipped`);
  expect(bytes).toBeLessThanOrEqual(120_000);
});

it("charts come when a page with one is opened", () => {
  const charts = readdirSync(join(built, "assets")).filter((name) => name.startsWith("rate-chart-"));
  expect(charts).toHaveLength(1);
  expect(firstFiles()).not.toContain(charts[0]);
});

it("the document has no script or style of its own, which the policy would stop", () => {
  expect(page).not.toMatch(/<style|style=|<script(?![^>]*\bsrc=)/);
  expect(page).toContain('<meta name="posthorn-base" content="" />');
});
