import { expect, it } from "vitest";
import type { Arrival } from "../../../inbox/inbox-store.js";
import { Touches } from "../../../inbox/touches.js";
import type { Pool, Statement } from "../client/database.js";
import { flushTouches } from "./touch.js";

const arrival = (id: string): Arrival =>
  ({ tenant: "default", source: "stripe", id, windowS: 86_400 }) as Arrival;

function watched() {
  const written: string[] = [];
  let failing = false;
  const pool = {
    query(statement: Statement) {
      if (failing) return Promise.reject(new Error("down"));
      written.push(String(statement.params?.[2]));
      return Promise.resolve({ rows: [], command: "UPDATE" });
    },
  } as unknown as Pool<unknown>;
  const touches = new Touches();
  return {
    touches,
    written,
    fail: (now: boolean) => (failing = now),
    flush: () => flushTouches(touches, pool, { inbox: "posthorn.inbox", acquireMs: 1000 }),
  };
}

it("what could not be written is written the next time", async () => {
  const { touches, written, fail, flush } = watched();
  touches.add(arrival("evt_1"), 0);
  fail(true);
  await expect(flush()).rejects.toThrow("down");
  touches.add(arrival("evt_2"), 0);
  fail(false);
  await flush();
  expect(written).toEqual(['{"evt_1","evt_2"}']);
});

it("a flush writes at most 500 rows in a statement", async () => {
  const { touches, written, flush } = watched();
  for (let n = 0; n < 1200; n++) touches.add(arrival(`evt_${n}`), 0);
  await flush();
  expect(written.map((ids) => ids.split(",").length)).toEqual([500, 500, 200]);
});
