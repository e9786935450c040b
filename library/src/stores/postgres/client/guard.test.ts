import { describe, expect, it } from "vitest";
import type { PgClient, PostgresTransaction } from "./drivers.js";
import { guardClient, guardSql } from "./guard.js";

const finished = expect.objectContaining({ code: "store_transaction_finished" }) as Error;

class FakeClient {
  #asked: unknown[] = [];
  query(...args: unknown[]): Promise<unknown> {
    this.#asked.push(args);
    return args[0] === "bad" ? Promise.reject(new Error("bad")) : Promise.resolve({ rows: [] });
  }
  asked(): unknown[] {
    return this.#asked;
  }
  release(): void {}
}

function guardedClient() {
  return guardClient(new FakeClient() as unknown as FakeClient & PgClient);
}

describe("a guarded client of pg", () => {
  it("is the client itself until it is closed, also to methods with private fields", async () => {
    const { tx } = guardedClient();
    await (tx as FakeClient).query("select $1", [1]);
    expect(tx.asked()).toEqual([["select $1", [1]]]);
    expect(tx).toBeInstanceOf(FakeClient);
  });

  it("refuses every query after it was closed, and release at any time", () => {
    const { tx, close } = guardedClient();
    expect(() => tx.release()).toThrow(finished);
    close();
    expect(() => (tx as FakeClient).query("late")).toThrow(finished);
    expect(tx.asked()).toEqual([]);
  });

  it("remembers the error that a handler swallowed", async () => {
    const { tx, failure } = guardedClient();
    expect(failure()).toBeUndefined();
    await (tx as FakeClient).query("bad").catch(() => undefined);
    expect(failure()).toMatchObject({ message: "bad" });
  });
});

class FakeQuery extends Promise<unknown> {
  active = false;
  cancelled = false;
  cancel(): void {
    this.cancelled = true;
  }
}

function guardedSql() {
  const made: FakeQuery[] = [];
  const make = (): FakeQuery => {
    const query = new FakeQuery(() => undefined);
    made.push(query);
    return query;
  };
  const sql = Object.assign(() => make(), {
    unsafe: make,
    json: (value: unknown) => value,
    savepoint: (work: (inner: unknown) => unknown) => work(Object.assign(() => make(), { unsafe: make })),
  });
  const guarded = guardSql(sql as unknown as typeof sql & PostgresTransaction);
  return { ...guarded, made };
}

describe("a guarded sql of postgres", () => {
  it("refuses after it was closed, as do its savepoints", () => {
    const { tx, close } = guardedSql();
    let inner: (() => unknown) | undefined;
    tx.savepoint((sql) => (inner = sql as () => unknown));
    expect(() => [tx(), tx.unsafe(), inner?.()]).not.toThrow();
    close();
    for (const late of [() => tx(), () => tx.unsafe(), () => inner?.()]) expect(late).toThrow(finished);
    expect(tx.json(1)).toBe(1);
  });

  it("cancels what is running, and leaves alone what was never sent", () => {
    const { tx, cancel, made } = guardedSql();
    void [tx(), tx.unsafe()];
    Object.assign(made[1] ?? {}, { active: true });
    cancel();
    expect(made.map(({ cancelled }) => cancelled)).toEqual([false, true]);
  });
});
