import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { holdDataDir, makeDataDir } from "./data-dir.js";

const root = mkdtempSync(join(tmpdir(), "posthorn-dir-"));
let at = 0;
const fresh = (): string => join(root, String(at++));

afterEach(() => rmSync(root, { recursive: true, force: true }));

it("a data directory is its owner's alone", () => {
  const dir = fresh();
  makeDataDir(dir);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
});

it("a directory that is held is refused to a second, who is told by whom", () => {
  const dir = fresh();
  makeDataDir(dir);
  const release = holdDataDir(dir);
  expect(() => holdDataDir(dir)).toThrow(new RegExp(`held by process ${process.pid} on `));
  release();
  const again = holdDataDir(dir);
  again();
  again();
});
