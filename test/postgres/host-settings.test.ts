import postgres from "postgres";
import type { PostgresPool } from "posthorn/postgres";
import { postgresStore } from "posthorn/postgres";
import { afterAll, describe, expect, it } from "vitest";
import { endpointFor, eventOf, settlementOf } from "../../library/src/testing/conformance/outbox/steps.js";
import { freshDatabase } from "../services.js";
import { quietPool } from "./quiet-pool.js";

const url = await freshDatabase();

function broken(): never {
  throw new Error("a parser of the host's was asked");
}

function hexOf(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString("hex")}`;
}

// Every parser of the host throws, names of columns are turned around, nulls are undefined.
const pool = quietPool({
  connectionString: url,
  types: { getTypeParser: () => broken },
  options:
    "-c bytea_output=escape -c timezone=Asia/Kolkata -c datestyle=german -c intervalstyle=sql_standard",
});
const sql = postgres(url, {
  onnotice: () => undefined,
  types: {
    bytea: { to: 17, from: [17], serialize: hexOf, parse: broken },
    text: { to: 25, from: [25], serialize: (value: string) => value, parse: broken },
  },
  transform: { undefined: null, column: { from: (name: string) => name.split("").toReversed().join("") } },
  connection: { bytea_output: "escape", TimeZone: "Asia/Kolkata", DateStyle: "german" },
});

afterAll(async () => {
  await pool.end();
  await sql.end({ timeout: 1 });
});

const run = { maxEvents: 8, maxBytes: 1_000_000 };
const request = {
  worker: "worker_1",
  limit: 100,
  leaseMs: 60_000,
  of: { kind: "endpoint" } as const,
  inFlight: new Map(),
  run,
  alone: false,
};
const BODY = Buffer.from([0, 1, 0x5c, 0x78, 0x27, 0x80, 0xff, ...Buffer.from("{}é")]);

describe.each([
  ["pg", pool as unknown as PostgresPool<never>],
  ["postgres", sql as unknown as PostgresPool<never>],
])("whatever a host has set on %s", (name, client) => {
  it("events are received, published, delivered and looked up byte for byte", async () => {
    const store = postgresStore({ client });
    const arrival = {
      tenant: "default",
      source: "stripe",
      id: `evt_${name}`,
      idPreview: undefined,
      type: "order.paid",
      eventAt: new Date(1_700_000_000_123),
      body: BODY,
      bodyHash: Buffer.alloc(32, 0x5c),
      headers: "{}",
      windowS: 60,
    };
    const limits = { acquireMs: 5000, signal: AbortSignal.timeout(20_000) };
    const handled = await store.accept(arrival, () => ({ outcome: "skipped" }), limits);
    expect(handled).toMatchObject({ kind: "applied" });
    const row = await store.read(arrival);
    expect([...(row?.body ?? [])]).toEqual([...BODY]);
    expect(row?.eventAt).toEqual(arrival.eventAt);
    expect(await store.find(arrival)).toMatchObject({ outcome: "skipped" });

    const [id, tenant] = [`ep_${name}`, `tenant_${name}`];
    await store.addEndpoint(endpointFor({ id, tenant }));
    const events = [1, 2].map((n) => eventOf({ id: `${name}_${n}`, tenant, key: "k", body: BODY }));
    // Twice, so that the second claim and settlement are sent by the statements that the first have parsed.
    for (const event of await Promise.all(events)) {
      await store.append([event]);
      while ((await store.sequence()).more);
      const { claims } = await store.claim(request);
      expect(claims.map((claim) => [...claim.run[0].event.body])).toEqual([[...BODY]]);
      const settlements = claims.map((claim) => settlementOf(claim, { acknowledged: claim.run.length }));
      expect(await store.settle({ ...request, settlements })).toMatchObject([{ kind: "settled" }]);
      expect([...((await store.event(tenant, event.id))?.body ?? [])]).toEqual([...BODY]);
    }
  });
});
