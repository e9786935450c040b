import { expect, it } from "vitest";
import { Exchange } from "./egress-exchange.js";

const request = { url: "https://example.com/", headers: {}, body: new Uint8Array(), deadlineMs: 60_000 };

/** Starts to write a request so long after it was asked for; says whether it was stopped, and what came of it. */
async function written(afterMs: number) {
  const clock = { at: 0, now: () => 0, monotonic: () => clock.at };
  const exchange = new Exchange<object>(request, { clock, onLate: () => undefined, onDone: () => undefined });
  let stopped = false;
  clock.at = afterMs;
  exchange.onRequestStart({ abort: () => (stopped = true) });
  if (!stopped) {
    exchange.onResponseStart({ abort: () => undefined }, 204, {});
    exchange.onResponseEnd();
  }
  return { stopped, ...(await exchange.result) };
}

it("a process that was stopped before it wrote writes nothing after the deadline: its lane may be another's", async () => {
  expect(await written(60_000)).toMatchObject({
    stopped: true,
    outcome: { kind: "unreachable", reason: "connect" },
    detail: "not sent before the deadline",
  });
  expect(await written(59_999)).toMatchObject({ stopped: false, outcome: { kind: "acknowledged" } });
});
