import { createFaultProxy } from "posthorn/testing";
import type { FaultProxy } from "posthorn/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FaultPoint } from "../../library/src/fault-point.js";
import { killAtEveryPoint } from "./every-point.js";
import type { PostgresDatabase } from "./postgres-database.js";
import { createPostgresDatabase } from "./postgres-database.js";
import { Supervisor } from "./supervisor.js";

const resolving = new Map<FaultPoint, number>([
  ["dedup.before_resolve", 0],
  ["dedup.after_resolve", 0],
]);

describe("dedup on a pool, whose answer is lost and which is killed while it finds out", () => {
  let database: PostgresDatabase;
  let proxy: FaultProxy;
  let supervisor: Supervisor;
  beforeAll(async () => {
    database = await createPostgresDatabase();
    proxy = await createFaultProxy({ port: Number(new URL(database.options.database).port) });
    supervisor = new Supervisor(database.at(proxy.port));
  });
  afterAll(async () => {
    await supervisor.stop();
    await proxy.close();
    await database.close();
  });

  it.each([...resolving.keys()])("at %s: nobody is told that he is first who is not", async (point) => {
    const id = `resolve-${point.replaceAll(/[._]/g, "")}`;
    const host = await supervisor.host();
    await host.arm({ point, nth: 1 });
    const lost = proxy.swallowAnswer(id);
    const asked = host.post("/pooled", { id });
    await expect(asked).rejects.toThrow();
    await lost;
    expect(await host.ended).toEqual({ signal: "SIGKILL", point });
    resolving.set(point, (resolving.get(point) ?? 0) + 1);
    // The row was written, and who wrote it is gone: outside of a transaction, an event can be lost, never doubled.
    const next = await supervisor.host();
    expect(await next.post("/pooled", { id })).toEqual({ status: 200, verdict: "duplicate" });
  });
});

killAtEveryPoint("postgres", createPostgresDatabase, { elsewhere: resolving });
