import { expect, test } from "vitest";
import { Progress } from "./progress.js";

function written(isTTY: boolean, run: (progress: Progress) => void, columns = 30): string[] {
  const lines: string[] = [];
  run(new Progress({ isTTY, columns, write: (text: string) => lines.push(text) }, "verify"));
  return lines;
}

function hundredSteps(progress: Progress): void {
  for (let done = 0; done < 100; done += 1)
    progress.step({ done, total: 100, label: `step ${done} of a long name` });
}

test("without a terminal a hundred steps leave three lines, none with an escape code", () => {
  const lines = written(false, hundredSteps);
  expect(lines.map((line) => line.split(",")[0])).toEqual(["verify: 25 %", "verify: 50 %", "verify: 75 %"]);
  expect(lines.join("")).not.toContain("\u001b");
});

test("on a terminal every step rewrites one line that never wraps", () => {
  const lines = written(true, hundredSteps);
  expect(lines).toHaveLength(100);
  for (const line of lines) {
    expect(line.startsWith("\r\u001b[2Kverify: ")).toBe(true);
    expect(line.slice(5)).toHaveLength(29);
  }
});

test("a spoken line takes the live line away first", () => {
  expect(written(true, (progress) => progress.say("done")).join("")).toBe("\r\u001b[2Kverify: done\n");
});

test("a terminal that does not know its width gets the whole line", () => {
  const lines = written(true, (progress) => progress.step({ done: 0, total: 1, label: "1 kB" }), 0);
  expect(lines.join("")).toMatch(/1 kB$/);
});
