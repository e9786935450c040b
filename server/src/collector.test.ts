import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

it("the collector is tuned by flags that this Node knows", () => {
  const module = JSON.stringify(new URL("collector.ts", import.meta.url).href);
  const program = `(await import(${module})).tuneCollector(); process.stdout.write("tuned")`;
  const args = ["--import", "tsx", "--input-type=module", "--eval", program];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  // Of a flag that it does not know, V8 complains on the standard error, and goes on.
  expect([stdout, stderr]).toEqual(["tuned", ""]);
});
