import { describe, expect, it } from "vitest";
import { createFakeClock } from "../testing/fake-clock.js";
import { Timeouts } from "./timeouts.js";

function setUp() {
  const clock = createFakeClock();
  const ended: string[] = [];
  const timeouts = new Timeouts(clock, 1000);
  const start = (name: string) => timeouts.start(() => ended.push(name));
  return { clock, ended, timeouts, start };
}

describe("timeouts of one limit", () => {
  it("end each at its own time, in their order", async () => {
    const { clock, ended, start } = setUp();
    start("a");
    await clock.advance(400);
    start("b");
    await clock.advance(599);
    expect(ended).toEqual([]);
    await clock.advance(1);
    expect(ended).toEqual(["a"]);
    await clock.advance(399);
    expect(ended).toEqual(["a"]);
    await clock.advance(1);
    expect(ended).toEqual(["a", "b"]);
  });

  it("never end what was stopped", async () => {
    const { clock, ended, timeouts, start } = setUp();
    const a = start("a");
    start("b");
    await clock.advance(500);
    timeouts.stop(a);
    await clock.advance(5000);
    expect(ended).toEqual(["b"]);
  });

  it("share one timer, and leave none behind", async () => {
    const { clock, ended, timeouts, start } = setUp();
    const all = Array.from({ length: 100 }, (_, n) => start(String(n)));
    expect(clock.sleeping).toBe(1);
    for (const each of all) timeouts.stop(each);
    expect(clock.sleeping).toBe(0);
    start("next");
    await clock.advance(999);
    const later = start("later");
    await clock.advance(1);
    expect(ended).toEqual(["next"]);
    timeouts.stop(later);
    await clock.advance(0);
    expect(clock.sleeping).toBe(0);
  });

  it("are watched again when the last one stops and another starts at the same moment", async () => {
    const { clock, ended, timeouts, start } = setUp();
    timeouts.stop(start("a"));
    start("b");
    await clock.advance(1000);
    expect(ended).toEqual(["b"]);
  });
});
