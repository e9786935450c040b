import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";

const built = fileURLToPath(new URL("../../server/dist/dashboard/", import.meta.url));
const zipped = (path: string): number => gzipSync(readFileSync(path), { level: 9 }).length;

it("the first page takes at most 120 kB on the wire", () => {
  const files = readdirSync(join(built, "assets")).map((name) => join(built, "assets", name));
  const bytes = [join(built, "index.html"), ...files].reduce((sum, path) => sum + zipped(path), 0);
  console.log(`dashboard: ${(bytes / 1000).toFixed(1)} kB gzipped`);
  expect(bytes).toBeLessThanOrEqual(120_000);
});

it("the document has no script or style of its own, which the policy would stop", () => {
  const page = readFileSync(join(built, "index.html"), "utf8");
  expect(page).not.toMatch(/<style|style=|<script(?![^>]*\bsrc=)/);
  expect(page).toContain('<meta name="posthorn-base" content="" />');
});
