import { Pool } from "pg";
import { createFaultProxy } from "posthorn/testing";
import { expect, it } from "vitest";
import { clientKind, poolOf } from "../../library/src/stores/postgres/client/client.js";
import { OwnTransactions } from "../../library/src/stores/postgres/client/own-transaction.js";
import { freshDatabase } from "../services.js";

const STATEMENT = { text: "select $1::text as asked", params: ["asked"], prepared: true };

it("a transaction of the store's own gives up a connection that has fallen silent, and the next one goes on", async () => {
  const url = new URL(await freshDatabase());
  const proxy = await createFaultProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(proxy.port);
  url.hostname = "127.0.0.1";
  const client = new Pool({ connectionString: url.href, max: 2 });
  client.on("error", () => undefined);
  const transactions = new OwnTransactions(poolOf(clientKind(client), true), 5000, 200);
  const ask = (): Promise<unknown> =>
    transactions.runFrom(STATEMENT, (_scope, { rows }) => Promise.resolve(rows));
  try {
    expect(await ask()).toEqual([["asked"]]);
    proxy.set({ blackHole: true });
    await expect(ask()).rejects.toMatchObject({ code: "store_unavailable" });
    proxy.set({ blackHole: false });
    expect(await ask()).toEqual([["asked"]]);
  } finally {
    await proxy.close();
    await client.end();
  }
});
