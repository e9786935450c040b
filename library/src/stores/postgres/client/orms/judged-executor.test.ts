import { describe, expect, it } from "vitest";
import { connectionOf, judgeConnection } from "./judged-executor.js";
import type { KyselyExecutor } from "./judged-executor.js";
import type { Judge } from "./orm-client.js";

/** A connection of a pool, and what was sent by it. */
function setUp() {
  const sent: string[] = [];
  class Connection {
    executeQuery({ sql }: { readonly sql: string }): Promise<void> {
      sent.push(sql);
      return Promise.resolve();
    }
  }
  const gate = { isOpen: true };
  const judge = Object.assign(
    (text: string): void => {
      if (gate.isOpen && text === "commit") throw new Error("refused");
    },
    { owned: () => undefined },
  ) as unknown as Judge;
  return { connection: new Connection(), sent, gate, judge };
}

describe("a connection that a transaction of an ORM has", () => {
  it("is found by its executor", async () => {
    const { connection } = setUp();
    const provideConnection = (use: (lent: object) => Promise<void>) => use(connection);
    expect(await connectionOf({ provideConnection } as KyselyExecutor)).toBe(connection);
  });

  it("sends no end of the transaction as long as its handler has it", () => {
    const { connection, sent, judge } = setUp();
    judgeConnection(connection, judge);
    expect(() => connection.executeQuery({ sql: "commit" })).toThrow("refused");
    void connection.executeQuery({ sql: "insert" });
    expect(sent).toEqual(["insert"]);
  });

  it("is given back to its pool as it was, with the ORM's own end: what others send by it is not judged", () => {
    const { connection, sent, gate, judge } = setUp();
    judgeConnection(connection, judge);
    gate.isOpen = false;
    void connection.executeQuery({ sql: "commit" });
    expect(Object.keys(connection)).toEqual([]);
    gate.isOpen = true;
    void connection.executeQuery({ sql: "commit" });
    expect(sent).toEqual(["commit", "commit"]);
  });
});
