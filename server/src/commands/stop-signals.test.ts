import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import { untilStopped } from "./stop-signals.js";

it("the first signal stops cleanly, the second at once", async () => {
  const signalled = new EventEmitter();
  let atOnce = 0;
  const signals = untilStopped(signalled, () => (atOnce += 1));
  signalled.emit("SIGTERM");
  await signals.stopped;
  expect(atOnce).toBe(0);
  signalled.emit("SIGINT");
  expect(atOnce).toBe(1);
  signals.release();
  expect(signalled.eventNames()).toEqual([]);
});
