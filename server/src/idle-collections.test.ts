import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const MODULE = JSON.stringify(new URL("idle-collections.ts", import.meta.url).href);

it("they are put off by a flag that this Node knows", () => {
  const program = `(await import(${MODULE})).postponeIdleCollections(); process.stdout.write("put off")`;
  const args = ["--import", "tsx", "--input-type=module", "--eval", program];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  // Of a flag that it does not know, V8 complains on the standard error, and goes on.
  expect([stdout, stderr]).toEqual(["put off", ""]);
});

it("they are put off before the program is loaded: later, V8 no longer listens", () => {
  const main = readFileSync(new URL("main.ts", import.meta.url), "utf8");
  const imported = Array.from(main.matchAll(/^import .* from "(.*)";$/gm), ([, from]) => from);
  expect(imported).toEqual(["./idle-collections.js"]);
});
