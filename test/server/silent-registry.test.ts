import { migrate } from "posthorn/postgres";
import { createFaultProxy } from "posthorn/testing";
import { expect, it } from "vitest";
import { SERVER_MIGRATIONS } from "../../server/src/store/postgres/migrations.js";
import { postgresRegistry } from "../../server/src/store/postgres/registry.js";
import { NO_SEAL } from "../../server/src/secrets/seal.js";
import { quietPool } from "../postgres/quiet-pool.js";
import { freshDatabase } from "../services.js";

it("sources, tokens and probes give up a database that has fallen silent, and go on when it answers again", async () => {
  const url = new URL(await freshDatabase());
  const proxy = await createFaultProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(proxy.port);
  url.hostname = "127.0.0.1";
  const pool = quietPool({ connectionString: url.href, max: 2, connectionTimeoutMillis: 60_000 });
  pool.on("error", () => undefined);
  const registry = postgresRegistry(pool, "posthorn", NO_SEAL, { deadlineMs: 300 });
  try {
    await migrate(pool, { set: { name: "server", migrations: SERVER_MIGRATIONS } });
    await registry.probeWrite("node");
    proxy.set({ blackHole: true });
    // More than the pool has connections: the last ones wait for a connection, and give up as well.
    const asked = [
      registry.sourcesVersion(),
      registry.listSources({ limit: 1 }),
      registry.findToken(new Uint8Array(32)),
      registry.findSession(new Uint8Array(32)),
      registry.probeWrite("node"),
    ];
    const codes = (await Promise.allSettled(asked)).map((each) =>
      each.status === "rejected" ? (each.reason as { code?: unknown }).code : "answered",
    );
    expect(codes).toEqual(asked.map(() => "store_unavailable"));
    proxy.set({ blackHole: false });
    await expect
      .poll(() => registry.sourcesVersion().catch(() => undefined), { timeout: 10_000 })
      .toBeTypeOf("string");
  } finally {
    await proxy.close();
    await pool.end();
  }
});
