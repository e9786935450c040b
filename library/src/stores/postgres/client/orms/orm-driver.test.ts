import { describe, expect, it } from "vitest";
import type { OrmClient } from "./orm-client.js";
import { OrmDriver } from "./orm-driver.js";

function nothing(): void {}

describe("a statement that outlives the deadline of its handler", () => {
  it("is cancelled although it was still on its way when the server was asked for the first time", async () => {
    let asked = 0;
    let end = nothing;
    const slow = new Promise<never>((_, reject) => {
      end = () => reject(new Error("canceling statement due to user request"));
    });
    // What waits behind it, as the rollback of a driver does.
    const ended = slow.catch(() => undefined);
    const client: OrmClient<object> = {
      orm: "Double",
      begin: async (work) => {
        try {
          await work({});
        } catch (error) {
          if (asked > 0) await ended;
          throw error;
        }
      },
      run: ({ text }) => {
        if (!text.includes("pg_cancel_backend")) return Promise.resolve([{ xid: "7" }]);
        if (++asked === 2) end();
        return Promise.resolve([]);
      },
      isOpen: () => true,
    };
    const driver = new OrmDriver(client);
    const signal = AbortSignal.timeout(20);
    const ran = driver.transaction(
      { text: "insert into posthorn.inbox default values" },
      async (scope) => {
        scope.backend = { pid: "1", xid: "7" };
        await slow;
      },
      { acquireMs: 1000, signal },
    );
    expect(await ran).toMatchObject({ kind: "rolled_back" });
    await ended;
    expect(asked).toBe(2);
  });
});
