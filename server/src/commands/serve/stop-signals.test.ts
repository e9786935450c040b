import { EventEmitter } from "node:events";
import { createFakeClock } from "posthorn/testing";
import { expect, it } from "vitest";
import { untilStopped } from "./stop-signals.js";

it("the first signal stops cleanly, a second one at once; the same one passed on by npm is no second", async () => {
  const signalled = new EventEmitter();
  const clock = createFakeClock();
  let atOnce = 0;
  const signals = untilStopped(signalled, { clock, atOnce: () => (atOnce += 1) });
  signalled.emit("SIGINT");
  await signals.stopped;
  signalled.emit("SIGINT");
  await clock.advance(100);
  signalled.emit("SIGTERM");
  expect(atOnce).toBe(0);
  await clock.advance(500);
  signalled.emit("SIGINT");
  expect(atOnce).toBe(1);
  signals.release();
  expect(signalled.eventNames()).toEqual([]);
});
