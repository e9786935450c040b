import { expect, it } from "vitest";
import type { Signal } from "../../../observer.js";
import type { Pool } from "./database.js";
import { DurabilityCheck, lostPromises } from "./durability.js";

function answering(...values: string[]) {
  let asked = 0;
  const pool = {
    query() {
      asked++;
      if (values.length === 0) return Promise.reject(new Error("down"));
      return Promise.resolve({ rows: [values], command: "SELECT" });
    },
  } as unknown as Pool<unknown>;
  return { pool, asked: () => asked };
}

it("settings that do not wait for the disk take back the promise; those that wait for more do not", () => {
  expect(lostPromises(["on", "on", "on"])).toEqual([]);
  for (const level of ["local", "remote_write", "remote_apply"])
    expect(lostPromises(["on", "on", level])).toEqual([]);
  expect(lostPromises(["off", "off", "off"]).map(({ setting }) => setting)).toEqual([
    "fsync",
    "full_page_writes",
    "synchronous_commit",
  ]);
  expect(lostPromises([])).toHaveLength(3);
});

it("they are told once, and nobody waits for it", async () => {
  const signals: Signal[] = [];
  const { pool, asked } = answering("on", "on", "off");
  const check = new DurabilityCheck(pool, "as_is", (signal) => signals.push(signal));
  for (let event = 0; event < 3; event++) expect(check.before(1000)).toBeUndefined();
  await expect.poll(() => signals).toHaveLength(1);
  expect(signals[0]).toMatchObject({
    kind: "store_promise_lost",
    setting: "synchronous_commit",
    value: "off",
  });
  expect(asked()).toBe(1);
});

it("where it is strict, no event is accepted while they are there, and each asks again", async () => {
  const { pool, asked } = answering("off", "on", "on");
  const check = new DurabilityCheck(pool, "strict", undefined);
  for (let event = 0; event < 2; event++) {
    await expect(check.before(1000)).rejects.toMatchObject({ code: "store_option_invalid" });
  }
  expect(asked()).toBe(2);
  const sound = answering("on", "on", "on");
  const passed = new DurabilityCheck(sound.pool, "strict", undefined);
  await passed.before(1000);
  await passed.before(1000);
  expect(sound.asked()).toBe(1);
});

it("a database that is not there yet is no reason to stop, unless it is strict", async () => {
  const { pool } = answering();
  const told = new DurabilityCheck(pool, "as_is", () => undefined);
  expect(told.before(1000)).toBeUndefined();
  await expect(new DurabilityCheck(pool, "strict", undefined).before(1000)).rejects.toThrow("down");
});

it("a word that is no durability is refused", () => {
  const { pool } = answering();
  expect(() => new DurabilityCheck(pool, "set" as never, undefined)).toThrow('expected "as_is" or "strict"');
});
