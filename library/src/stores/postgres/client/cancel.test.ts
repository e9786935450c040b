import { setImmediate } from "node:timers/promises";
import postgres from "postgres";
import { describe, expect, it } from "vitest";
import { cancelQuery } from "./cancel.js";
import type { PostgresQuery } from "./drivers.js";

const canceller = (): Promise<void> => Promise.reject(new Error("connect ECONNREFUSED"));

describe("a query of postgres that is cancelled", () => {
  it("while the server cannot be reached ends no process", async () => {
    const unheard: unknown[] = [];
    const hear = (error: unknown): unknown => unheard.push(error);
    process.on("unhandledRejection", hear);
    const query = { canceller, cancel: () => void canceller() };
    cancelQuery(query as unknown as PostgresQuery);
    await setImmediate();
    process.off("unhandledRejection", hear);
    expect([unheard, query.canceller]).toEqual([[], null]);
  });

  it("has the field by which this is done, in the version that we test with", () => {
    const sql = postgres("postgres://127.0.0.1:1/none");
    expect(sql.unsafe("select 1")).toHaveProperty("canceller", expect.any(Function));
  });

  it("is cancelled in the driver's own way where a version does without the field", () => {
    let cancelled = 0;
    cancelQuery({ cancel: () => void cancelled++ } as unknown as PostgresQuery);
    expect(cancelled).toBe(1);
  });
});
