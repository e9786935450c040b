import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import type { SqliteDatabase } from "./client.js";
import { SqliteClient } from "./client.js";

const client = (handle: unknown): SqliteClient => new SqliteClient(handle as SqliteDatabase);

describe("SqliteClient", () => {
  it.each([
    [undefined, /undefined was handed in/],
    [{ query: () => undefined }, /class Object.*hand in the handle itself/],
    [{ prepare: () => undefined, exec: () => undefined }, /Node 22\.16/],
  ])("refuses %s with the cure", (handle, message) => {
    expect(() => client(handle)).toThrow(message);
    expect(() => client(handle)).toThrow(expect.objectContaining({ code: "store_client_unsupported" }));
  });

  it("refuses a read-only handle", () => {
    const handle = { prepare: () => undefined, exec: () => undefined, inTransaction: false, readonly: true };
    expect(() => client(handle)).toThrow(/read-only.*without `readonly`/);
  });

  it("reads plain numbers from a handle that the host has set to big integers", () => {
    const db = new Database(":memory:").defaultSafeIntegers();
    expect(client(db).get("select 7 as n")).toEqual({ n: 7 });
    expect(client(db).pragma("busy_timeout")).toBe(5000);
    db.close();
  });

  it("gives the handle its own wait for locks back, also when what it ran throws", () => {
    const db = new Database(":memory:", { timeout: 1234 });
    const wrapped = client(db);
    const inside = wrapped.withLockWait(7, () => wrapped.pragma("busy_timeout"));
    expect(inside).toBe(7);
    expect(() =>
      wrapped.withLockWait(7, () => {
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(wrapped.pragma("busy_timeout")).toBe(1234);
    db.close();
  });
});
