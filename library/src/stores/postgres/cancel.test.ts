import { setImmediate } from "node:timers/promises";
import postgres from "postgres";
import { describe, expect, it } from "vitest";
import { cancelQuery } from "./cancel.js";
import type { PostgresQuery } from "./client.js";

describe("a query of postgres that is cancelled", () => {
  it("while the server cannot be reached ends no process", async () => {
    const unheard: unknown[] = [];
    const hear = (error: unknown): unknown => unheard.push(error);
    process.on("unhandledRejection", hear);
    const canceller = (): Promise<void> => Promise.reject(new Error("connect ECONNREFUSED"));
    const query = { canceller, cancel: () => void canceller() };
    cancelQuery(query as unknown as PostgresQuery);
    await setImmediate();
    process.off("unhandledRejection", hear);
    expect([unheard, query.canceller]).toEqual([[], null]);
  });

  it("before it was sent is refused by the driver itself, and leaves it usable", async () => {
    const sql = postgres("postgres://127.0.0.1:1/none", { max: 1 });
    const query = sql.unsafe("select 1");
    // The driver's own field: where a later version does without it, its `cancel` is called.
    expect(query).toHaveProperty("canceller");
    cancelQuery(query as unknown as PostgresQuery);
    await expect(query).rejects.toMatchObject({ code: "57014" });
    await sql.end();
  });
});
