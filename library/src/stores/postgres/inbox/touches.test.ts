import { expect, it } from "vitest";
import type { Clock } from "../../../clock.js";
import type { Arrival } from "../../../inbox/inbox-store.js";
import type { Pool, Statement } from "../client/database.js";
import { Touches } from "./touches.js";

const arrival = (id: string, windowS: number | undefined = 86_400): Arrival =>
  ({ tenant: "default", source: "stripe", id, windowS }) as Arrival;

function watched() {
  let nowMs = 0;
  const clock: Clock = { now: () => nowMs, monotonic: () => nowMs, sleep: () => Promise.resolve() };
  const written: string[] = [];
  let failing = false;
  const pool = {
    query(statement: Statement) {
      if (failing) return Promise.reject(new Error("down"));
      written.push(String(statement.params?.[2]));
      return Promise.resolve({ rows: [], command: "UPDATE" });
    },
  } as unknown as Pool<unknown>;
  const touches = new Touches(clock);
  return {
    touches,
    written,
    pass: (ms: number) => (nowMs += ms),
    fail: (now: boolean) => (failing = now),
    flush: () => touches.flush(pool, "posthorn.inbox", 1000),
  };
}

it("an event is touched at most once a minute", async () => {
  const { touches, written, pass, flush } = watched();
  for (let n = 0; n < 5; n++) touches.add(arrival("evt_1"));
  await flush();
  pass(59_000);
  touches.add(arrival("evt_1"));
  await flush();
  expect(written).toEqual(['{"evt_1"}']);
  pass(1000);
  touches.add(arrival("evt_1"));
  await flush();
  expect(written).toHaveLength(2);
});

it("a window shorter than two minutes is touched twice as often as it ends", async () => {
  const { touches, written, pass, flush } = watched();
  for (let n = 0; n < 3; n++) {
    touches.add(arrival("evt_1", 10));
    await flush();
    pass(5000);
  }
  expect(written).toHaveLength(3);
});

it("what could not be written is written the next time", async () => {
  const { touches, written, fail, flush } = watched();
  touches.add(arrival("evt_1"));
  fail(true);
  await expect(flush()).rejects.toThrow("down");
  touches.add(arrival("evt_2"));
  fail(false);
  await flush();
  expect(written).toEqual(['{"evt_1","evt_2"}']);
});

it("a sender that repeats millions of events does not fill the memory with them", async () => {
  const { touches, written, flush } = watched();
  for (let n = 0; n < 30_000; n++) touches.add(arrival(`evt_${n}`));
  await flush();
  expect(written).toHaveLength(20);
});
