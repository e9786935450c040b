import { sql } from "drizzle-orm";
import { drizzle as onPg } from "drizzle-orm/node-postgres";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { CompiledQuery } from "kysely";
import type { Kysely, Transaction } from "kysely";
import type { Pool } from "pg";
import { createReceiver, createSender, createWorker, standardWebhooks } from "posthorn";
import type { Worker } from "posthorn";
import { fromDrizzle, fromKysely } from "posthorn/orm";
import { postgresStore } from "posthorn/postgres";
import { signedRequest, TEST_SECRETS } from "posthorn/testing";
import { describe, expect, expectTypeOf, it } from "vitest";
import { freshDatabase } from "../services.js";
import { orms } from "./subjects/all.js";

const url = await freshDatabase();

describe.each(orms)("a worker on $name", (orm) => {
  const pool = orm.open(url, { max: 4 });
  const store = postgresStore({ client: pool.client });
  const source = orm.name.replaceAll(/\W/g, "_");
  const receiver = createReceiver({
    mode: "store_first",
    store,
    sources: {
      [source]: {
        verifier: standardWebhooks({ secrets: TEST_SECRETS.standard_webhooks.verifying }),
        key: { json: "/key" },
      },
    },
  });
  const post = async (id: string, key: string): Promise<unknown> => {
    const body = JSON.stringify({ type: "order.paid", key });
    return (await receiver.receive(source, await signedRequest("standard_webhooks", { id, body }))).verdict;
  };
  const failing = new Set<string>();
  /** What others saw as each handler began: effects and published events that are committed. On one connection, nobody can look. */
  const atStart: [effects: string, events: number][] = [];
  const worker: Worker = createWorker({
    store,
    publisher: createSender({ store }),
    observer: () => undefined,
    consumers: {
      [source]: {
        sources: [source],
        retry: { waitsMs: [1, 1] },
        handlers: {
          "*": async (event, { tx, publish }) => {
            if (orm.oneConnection !== true) atStart.push([await worked(), await published()]);
            await pool.inside(tx, `insert into worked (orm, event_id) values ('${source}', '${event.id}')`);
            await publish({ id: `${source}_${event.id}`, type: "order.paid", data: {} });
            // After its writes, so that a missing rollback shows.
            if (failing.delete(event.id)) throw new Error("fails once");
          },
        },
      },
    },
  });
  const worked = async (): Promise<string> => {
    const rows = await pool.rows(`select event_id from worked where orm = '${source}' order by n`);
    return rows.map(({ event_id }) => event_id).join(" ");
  };
  const published = async (): Promise<number> =>
    (await pool.rows(`select 1 as one from posthorn.event where public_id like '${source}\\_%'`)).length;

  it("applies each event once in the ORM's transaction, in order per key, and what fails leaves nothing", async () => {
    await pool.rows(
      "create table if not exists worked (n bigint generated always as identity, orm text, event_id text)",
    );
    for (const id of ["e1", "e2", "e1"]) await post(id, "k");
    failing.add("e1");
    // Its retry is due after a moment by the database's clock: one drain may find it, or the next.
    const totals = { handled: 0, failed: 0 };
    const drained = async (): Promise<string> => {
      const { handled, failed } = await worker.drain();
      totals.handled += handled;
      totals.failed += failed;
      return worked();
    };
    await expect.poll(drained, { interval: 20, timeout: 20_000 }).toBe("e1 e2");
    expect([totals, await published()]).toEqual([{ handled: 2, failed: 1 }, 2]);
    // The second begins after the failure of the first, whose writes and events are gone.
    const none = ["", 0];
    expect(atStart.slice(0, 2)).toEqual(orm.oneConnection === true ? [] : [none, none]);
    expect(await post("e2", "k")).toBe("duplicate");
    expect(await worker.drain()).toMatchObject({ handled: 0, failed: 0 });
  });

  it("in the background handles what arrives, and stops", async () => {
    await worker.start();
    for (const id of ["s1", "s2", "s3"]) await post(id, id);
    await expect.poll(async () => (await worked()).split(" ").length, { timeout: 20_000 }).toBe(5);
    await worker.stop();
    expect(await published()).toBe(5);
  });
});

/** Compiled, and never called. */
function compiled(_program: () => unknown): void {}

describe("the types of a worker", () => {
  it("give a handler on Drizzle its tx, with the tables of its schema", () => {
    compiled((pool?: Pool) => {
      const db: NodePgDatabase = onPg({ client: pool as Pool });
      createWorker({
        store: postgresStore({ client: fromDrizzle(db, sql) }),
        handlers: {
          "order.paid": async (event, { tx }) => {
            expectTypeOf(event.id).toEqualTypeOf<string>();
            expectTypeOf(tx).toEqualTypeOf<Parameters<Parameters<typeof db.transaction>[0]>[0]>();
            await tx.execute(sql`select 1`);
            // @ts-expect-error -- a transaction of Drizzle has no such method
            await tx.query("select 1");
          },
        },
      });
    });
  });

  it("give a handler on Kysely its trx, with the host's own tables", () => {
    interface Tables {
      readonly invoice: { readonly id: string };
    }
    compiled((db?: Kysely<Tables>) => {
      createWorker({
        store: postgresStore({ client: fromKysely(db as Kysely<Tables>, CompiledQuery) }),
        handlers: {
          "order.paid": async (event, { tx }) => {
            expectTypeOf(tx).toEqualTypeOf<Transaction<Tables>>();
            await tx.insertInto("invoice").values({ id: event.id }).execute();
            // @ts-expect-error -- there is no such table
            await tx.insertInto("invoices").values({ id: event.id }).execute();
          },
        },
      });
    });
  });
});
