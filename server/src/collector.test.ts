import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { growthAfter } from "./collector.js";

const MODULE = JSON.stringify(new URL("collector.ts", import.meta.url).href);

function run(program: string, flags: readonly string[] = []): readonly [stdout: string, stderr: string] {
  const args = [...flags, "--import", "tsx", "--input-type=module", "--eval", program];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  return [stdout, stderr];
}

it("the collector is tuned by flags that this Node knows", () => {
  const program = `(await import(${MODULE})).tuneCollector(); process.stdout.write("tuned")`;
  // Of a flag that it does not know, V8 complains on the standard error, and goes on.
  expect(run(program)).toEqual(["tuned", ""]);
});

it("a process learns nothing from the full collections of its first minute", () => {
  const program = `
    import module from "node:module";
    import v8 from "node:v8";
    const { setFlagsFromString } = v8;
    const set = [];
    v8.setFlagsFromString = (flag) => setFlagsFromString((set.push(flag), flag));
    module.syncBuiltinESMExports();
    (await import(${MODULE})).tuneCollector();
    const before = set.length;
    gc();
    while (set.length === before) await new Promise((resolve) => setTimeout(resolve, 10));
    process.stdout.write(set.at(-1));`;
  expect(run(program, ["--expose-gc"])).toEqual(["--heap-growing-percent=20", ""]);
});

it("a tuned process lets its heap grow after full collections that come too soon, and ends when it is done", () => {
  const program = `
    import module from "node:module";
    import v8 from "node:v8";
    const { setFlagsFromString } = v8;
    let last = "";
    v8.setFlagsFromString = (flag) => setFlagsFromString((last = flag));
    module.syncBuiltinESMExports();
    (await import(${MODULE})).tuneCollector(0);
    gc();
    while (last !== "--heap-growing-percent=200") await new Promise((resolve) => setTimeout(resolve, 10));
    process.stdout.write("grown");`;
  expect(run(program, ["--expose-gc"])).toEqual(["grown", ""]);
});

it("a heap that is full too soon may grow further, until it takes a minute", () => {
  expect(growthAfter(50, 30_000)).toBe(100);
  expect(growthAfter(100, 60_000)).toBe(100);
});

it("a heap that takes long to fill grows less again", () => {
  expect(growthAfter(200, 120_000)).toBe(100);
  expect(growthAfter(200, 3_600_000)).toBe(20);
});

it("a heap never grows beyond three times what was alive, however often it is full", () => {
  expect(growthAfter(50, 1)).toBe(200);
  expect(growthAfter(200, 0)).toBe(200);
});
