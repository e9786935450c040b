import { createFakeClock } from "posthorn/testing";
import { expect, it } from "vitest";
import { createLog } from "./observe/log.js";
import { StopList } from "./stop-list.js";

function listed(): { lines: string[]; list: StopList; clock: ReturnType<typeof createFakeClock> } {
  const lines: string[] = [];
  const output = { write: (text: string) => void lines.push(text), isTty: false, colour: false };
  const clock = createFakeClock();
  return {
    lines,
    clock,
    list: new StopList(createLog({ logLevel: "error", logFormat: "json" }, output), clock),
  };
}

it("what was started last is stopped first, and once", async () => {
  const { list } = listed();
  const stopped: string[] = [];
  for (const name of ["store", "dispatcher", "http"]) list.add(name, () => void stopped.push(name));
  expect(await Promise.all([list.stop(1000), list.stop(1000)])).toEqual([true, true]);
  expect(stopped).toEqual(["http", "dispatcher", "store"]);
});

it("one that fails to stop does not keep the others running", async () => {
  const { list, lines } = listed();
  const stopped: string[] = [];
  list.add("store", () => void stopped.push("store"));
  list.add("http", () => Promise.reject(new Error("no")));
  expect(await list.stop(1000)).toBe(true);
  expect(stopped).toEqual(["store"]);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: "error", step: "http", err: { message: "no" }, msg: "could not be stopped cleanly" },
  ]);
});

it("a stop that hangs ends at its deadline, and says where", async () => {
  const { list, lines, clock } = listed();
  list.add("dispatcher", () => new Promise(() => undefined));
  const stop = list.stop(20_000);
  await clock.advance(20_000);
  expect(await stop).toBe(false);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: "error", step: "dispatcher", msg: "the stop took too long, and was cut off" },
  ]);
});
