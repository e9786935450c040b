import { describe, expect, it } from "vitest";
import type { PgClient, PostgresTransaction } from "./drivers.js";
import { guardClient, guardSql } from "./guard.js";

const finished = expect.objectContaining({ code: "store_transaction_finished" }) as Error;
const owned = expect.objectContaining({ code: "store_transaction_owned" }) as Error;

class FakeClient {
  #asked: unknown[] = [];
  status = "T";
  query(...args: unknown[]): Promise<unknown> {
    this.#asked.push(args);
    return args[0] === "bad" ? Promise.reject(new Error("bad")) : Promise.resolve({ rows: [] });
  }
  getTransactionStatus(): string {
    return this.status;
  }
  asked(): unknown[] {
    return this.#asked;
  }
  release(): void {}
  end(): Promise<void> {
    return Promise.resolve();
  }
}

function guardedClient() {
  const client = new FakeClient();
  const guarded = guardClient(client as unknown as FakeClient & PgClient);
  return { ...guarded, client, ask: (...args: unknown[]) => (guarded.tx as FakeClient).query(...args) };
}

describe("a guarded client of pg", () => {
  it("is the client itself until it is closed, also to methods with private fields", async () => {
    const { tx, ask, refusal } = guardedClient();
    await ask("select $1", [1]);
    expect(tx.asked()).toEqual([["select $1", [1]]]);
    expect(tx).toBeInstanceOf(FakeClient);
    expect(refusal()).toBeUndefined();
  });

  it("rejects every query after it was closed, instead of throwing past a catch", async () => {
    const { tx, close, ask } = guardedClient();
    close();
    const late = ask("late");
    expect(late).toBeInstanceOf(Promise);
    await expect(late).rejects.toEqual(finished);
    await expect((tx as FakeClient).end()).rejects.toEqual(finished);
    expect(() => tx.release()).not.toThrow();
    expect(tx.asked()).toEqual([]);
  });

  it("tells callbacks and queries of their own class in their own way", async () => {
    const { close, ask, tx } = guardedClient();
    close();
    const told = await new Promise((resolve) => void ask("late", [1], resolve));
    expect(told).toEqual(finished);
    const failed = await new Promise((resolve) => {
      const cursor = { submit: () => undefined, handleError: resolve };
      expect(ask(cursor)).toBe(cursor);
    });
    expect(failed).toEqual(finished);
    expect(tx.asked()).toEqual([]);
  });

  it.each(["begin", { text: "commit" }, { text: "rollback", submit: () => undefined }, "select 1; commit"])(
    "sends no %j, and remembers that it was asked to",
    async (query) => {
      const { ask, tx, refusal } = guardedClient();
      const answer = ask(query);
      if (answer instanceof Promise) await expect(answer).rejects.toEqual(owned);
      expect(tx.asked()).toEqual([]);
      expect(refusal()).toEqual(owned);
    },
  );

  it("sends nothing once the session is out of its transaction", async () => {
    const { ask, tx, client, refusal } = guardedClient();
    client.status = "I";
    await expect(ask("insert into t values (1)")).rejects.toEqual(owned);
    expect(tx.asked()).toEqual([]);
    expect(refusal()).toEqual(owned);
  });

  it("refuses to be released or ended by the handler", async () => {
    const { tx, refusal } = guardedClient();
    expect(() => tx.release()).toThrow(owned);
    expect(refusal()).toEqual(owned);
    await expect((guardedClient().tx as FakeClient).end()).rejects.toEqual(owned);
  });

  it("remembers the error that a handler swallowed", async () => {
    const { ask, failure } = guardedClient();
    expect(failure()).toBeUndefined();
    await ask("bad").catch(() => undefined);
    expect(failure()).toMatchObject({ message: "bad" });
  });
});

/** As the driver's own: sent by its handler, a turn later. */
class FakeQuery extends Promise<unknown> {
  static override get [Symbol.species]() {
    return Promise;
  }
  active = false;
  cancelled = false;
  readonly strings: readonly string[];
  readonly args: readonly unknown[];
  handler: (query: FakeQuery) => void;
  readonly resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  #executed = false;

  constructor(strings: readonly string[], args: readonly unknown[], handler: (query: FakeQuery) => void) {
    const ends: { resolve?: (value: unknown) => void; reject?: (error: unknown) => void } = {};
    super((resolve, reject) => Object.assign(ends, { resolve, reject }));
    this.strings = strings;
    this.args = args;
    this.handler = handler;
    this.resolve = (value) => ends.resolve?.(value);
    this.reject = (error) => ends.reject?.(error);
  }

  execute(): this {
    if (!this.#executed) void Promise.resolve().then(() => this.handler(this));
    this.#executed = true;
    return this;
  }

  cancel(): void {
    this.cancelled = true;
  }
}

function guardedSql() {
  const sent: FakeQuery[] = [];
  const send = (query: FakeQuery): void => {
    sent.push(query);
    query.active = true;
  };
  const tagged = (strings: readonly string[], ...args: unknown[]): FakeQuery =>
    new FakeQuery(strings, args, send);
  const unsafe = (text: string): FakeQuery => new FakeQuery([text], [], send);
  const make = () => Object.assign(tagged, { unsafe });
  const sql = Object.assign(
    (strings: readonly string[], ...args: unknown[]) => tagged(strings, ...args),
    make(),
    {
      json: (value: unknown) => value,
      prepare: () => undefined,
      savepoint: (work: (inner: unknown) => unknown) => Promise.resolve(work(make())),
    },
  );
  const guarded = guardSql(sql as unknown as typeof sql & PostgresTransaction);
  return { ...guarded, sent };
}

const turns = () => new Promise((resolve) => setTimeout(resolve));

describe("a guarded sql of postgres", () => {
  it("rejects after it was closed, as do its savepoints, and what was made before and is sent after", async () => {
    const { tx, close, sent } = guardedSql();
    let inner: ((strings: readonly string[]) => unknown) | undefined;
    await tx.savepoint((sql) => (inner = sql as typeof inner));
    const early = tx`select 1`;
    close();
    for (const late of [early, tx`select 1`, tx.unsafe("select 1"), inner?.(["select 1"])])
      await expect((late as FakeQuery).execute()).rejects.toEqual(finished);
    await expect(tx.savepoint(() => undefined)).rejects.toEqual(finished);
    expect(tx.json(1)).toBe(1);
    expect(sent).toEqual([]);
  });

  it("sends nothing that begins or ends a transaction, and remembers that it was asked to", async () => {
    for (const ask of [
      (tx: ReturnType<typeof guardedSql>["tx"]) => tx`rollback`,
      (tx: ReturnType<typeof guardedSql>["tx"]) => tx`${tx`commit`}`,
      (tx: ReturnType<typeof guardedSql>["tx"]) => tx.unsafe("select 1; commit"),
      (tx: ReturnType<typeof guardedSql>["tx"]) => (tx as unknown as { begin: () => Promise<void> }).begin(),
    ]) {
      const { tx, sent, refusal } = guardedSql();
      const asked = ask(tx);
      await expect(asked instanceof FakeQuery ? asked.execute() : asked).rejects.toEqual(owned);
      expect(sent).toEqual([]);
      expect(refusal()).toEqual(owned);
    }
    const { tx, refusal } = guardedSql();
    expect(() => tx.prepare()).toThrow(owned);
    expect(refusal()).toEqual(owned);
  });

  it("takes a part of a query for a part, whatever its words", async () => {
    const { tx, sent, refusal } = guardedSql();
    void tx`select case when true then 1 ${tx`end`}`.execute();
    await turns();
    expect(sent).toHaveLength(1);
    expect(refusal()).toBeUndefined();
  });

  it("sends nothing more once a statement has failed with its socket, and says so", async () => {
    const { tx, sent, isLost } = guardedSql();
    const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    const asked = tx.unsafe("select 1").execute();
    asked.catch(() => undefined);
    await turns();
    expect(isLost()).toBe(false);
    sent[0]?.reject(reset);
    await expect(asked).rejects.toBe(reset);
    await expect(tx`select 2`.execute()).rejects.toBe(reset);
    expect([isLost(), sent.length]).toEqual([true, 1]);
  });

  it("cancels what is running, and leaves alone what was never sent", async () => {
    const { tx, cancel } = guardedSql();
    const unsent = tx`select 1`;
    const running = tx.unsafe("select 1").execute();
    await turns();
    cancel();
    expect([unsent.cancelled, running.cancelled]).toEqual([false, true]);
  });
});
