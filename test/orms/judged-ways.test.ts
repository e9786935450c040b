import type { PGlite } from "@electric-sql/pglite";
import { raw as rawPart, sql as part } from "@electric-sql/pglite/template";
import { sql as drizzleSql } from "drizzle-orm";
import type { Knex } from "knex";
import type { CompiledQuery as Compiled, Kysely, Transaction } from "kysely";
import { CamelCasePlugin, CompiledQuery, sql as kyselySql } from "kysely";
import type { Acceptance, Arrival } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import type { EntityManager } from "typeorm";
import { beforeAll, describe, expect, it } from "vitest";
import { freshDatabase } from "../services.js";
import { skipFor } from "../skip-reason.js";
import { newArrival } from "./arrival.js";
import { Prisma } from "./snippets/generated/prisma/client.js";
import { orms } from "./subjects/all.js";
import { is6 as isMikroOrm6 } from "./subjects/mikro-orm.js";

// Each public way of an ORM to send a statement on the transaction of a handler. One that is not judged commits or rolls back, and
// what the handler writes afterwards stays without its event.

const url = await freshDatabase();

const template = (text: string): TemplateStringsArray => Object.assign([text], { raw: [text] });

const success = { outcome: "success" } as const;

type Way = (tx: never, text: string) => unknown;

interface DrizzleTx {
  execute(query: object): Promise<unknown>;
  transaction(work: (tx: DrizzleTx) => Promise<unknown>): Promise<unknown>;
}

const ofDrizzle: Readonly<Record<string, Way>> = {
  "sql.raw": (tx: DrizzleTx, text) => tx.execute(drizzleSql.raw(text)),
  "a nested transaction": (tx: DrizzleTx, text) =>
    tx.transaction((inner) => inner.execute(drizzleSql.raw(text))),
  "a transaction nested twice": (tx: DrizzleTx, text) =>
    tx.transaction((inner) => inner.transaction((last) => last.execute(drizzleSql.raw(text)))),
};

type KyselyTx = Transaction<Record<string, object>>;
const raw = (text: string): Compiled => CompiledQuery.raw(text);

const ofKysely: Readonly<Record<string, Way>> = {
  sql: (tx: KyselyTx, text) => kyselySql.raw(text).execute(tx),
  "a compiled query": (tx: KyselyTx, text) => tx.executeQuery(raw(text)),
  "withoutPlugins().executeQuery": (tx: KyselyTx, text) => tx.withoutPlugins().executeQuery(raw(text)),
  "withoutPlugins() and sql": (tx: KyselyTx, text) => kyselySql.raw(text).execute(tx.withoutPlugins()),
  "withSchema().executeQuery": (tx: KyselyTx, text) => tx.withSchema("public").executeQuery(raw(text)),
  "withPlugin().executeQuery": (tx: KyselyTx, text) =>
    tx.withPlugin(new CamelCasePlugin()).executeQuery(raw(text)),
  "withTables().executeQuery": (tx: KyselyTx, text) =>
    (tx as unknown as { withTables(): Kysely<object> }).withTables().executeQuery(raw(text)),
  "withoutPlugins().withSchema().executeQuery": (tx: KyselyTx, text) =>
    tx.withoutPlugins().withSchema("public").executeQuery(raw(text)),
  "getExecutor().executeQuery": (tx: KyselyTx, text) => tx.getExecutor().executeQuery(raw(text)),
  "getExecutor().stream": (tx: KyselyTx, text) => tx.getExecutor().stream(raw(text), 1).next(),
  "getExecutor().provideConnection": (tx: KyselyTx, text) =>
    tx.getExecutor().provideConnection((connection) => connection.executeQuery(raw(text))),
};

const ofKnex: Readonly<Record<string, Way>> = {
  raw: (tx: Knex.Transaction, text) => tx.raw(text),
  "schema.raw": (tx: Knex.Transaction, text) => tx.schema.raw(text),
  "withSchema().raw": (tx: Knex.Transaction, text) => tx.withSchema("public").client.raw(text),
  "a nested transaction": (tx: Knex.Transaction, text) => tx.transaction((inner) => inner.raw(text)),
  savepoint: (tx: Knex.Transaction, text) => tx.savepoint((inner) => inner.raw(text)),
};

const ofTypeOrm: Readonly<Record<string, Way>> = {
  "manager.query": (tx: EntityManager, text) => tx.query(text),
  "manager.sql": (tx: EntityManager, text) => tx.sql(template(text)),
  "queryRunner.query": (tx: EntityManager, text) => tx.queryRunner?.query(text),
  "queryRunner.stream": async (tx: EntityManager, text) => {
    for await (const row of (await tx.queryRunner?.stream(text)) ?? []) void row;
  },
  "a repository": (tx: EntityManager, text) => tx.getRepository("none").query(text),
  "a nested transaction": (tx: EntityManager, text) => tx.transaction((inner) => inner.query(text)),
  "queryRunner's own end": (tx: EntityManager, text) =>
    text === "commit" ? tx.queryRunner?.commitTransaction() : tx.queryRunner?.rollbackTransaction(),
};

interface MikroTx {
  execute(text: string): Promise<unknown>;
  getConnection(): {
    execute(text: string, params: [], method: "run", context: unknown): Promise<unknown>;
    commit(context: unknown): Promise<unknown>;
    rollback(context: unknown): Promise<unknown>;
  };
  getTransactionContext(): unknown;
  transactional(work: (em: MikroTx) => Promise<unknown>): Promise<unknown>;
  fork(options?: object): MikroTx;
  commit(): Promise<unknown>;
  rollback(): Promise<unknown>;
}

const ofMikroOrm: Readonly<Record<string, Way>> = {
  "em.execute": (em: MikroTx, text) => em.execute(text),
  "connection.execute": (em: MikroTx, text) =>
    em.getConnection().execute(text, [], "run", em.getTransactionContext()),
  "connection's own end": (em: MikroTx, text) =>
    text === "commit"
      ? em.getConnection().commit(em.getTransactionContext())
      : em.getConnection().rollback(em.getTransactionContext()),
  "em's own end": (em: MikroTx, text) => (text === "commit" ? em.commit() : em.rollback()),
  "a nested transaction": (em: MikroTx, text) => em.transactional((inner) => inner.execute(text)),
  "a fork": (em: MikroTx, text) => em.fork({ keepTransactionContext: true }).execute(text),
  "a fork's own end": (em: MikroTx, text) => {
    const fork = em.fork({ keepTransactionContext: true });
    return text === "commit" ? fork.commit() : fork.rollback();
  },
};

/** What a transaction of MikroORM 7 is made of. */
interface MikroKysely extends KyselyTx {
  savepoint(name: string): { execute(): Promise<MikroKysely> };
  commit(): { execute(): Promise<void> };
  rollback(): { execute(): Promise<void> };
}

const kyselyOf = (em: unknown): MikroKysely => (em as { getKysely(): MikroKysely }).getKysely();

const ofMikroOrm7: Readonly<Record<string, Way>> = {
  ...ofMikroOrm,
  ...Object.fromEntries(
    Object.entries(ofKysely).map(([name, way]) => [
      `getKysely() and ${name}`,
      (em: never, text: string) => way(kyselyOf(em) as never, text),
    ]),
  ),
  "a savepoint of getKysely()": async (em, text) => {
    const inner = await kyselyOf(em).savepoint("a").execute();
    await inner.executeQuery(raw(text));
  },
  "a savepoint's own end": async (em, text) => {
    const inner = await kyselyOf(em).savepoint("a").execute();
    await (text === "commit" ? inner.commit() : inner.rollback()).execute();
  },
};

interface SequelizeTx {
  readonly sequelize: {
    query(text: string, options: object): Promise<unknown>;
    transaction(options: object, work: (tx: SequelizeTx) => Promise<unknown>): Promise<unknown>;
  };
  commit(): Promise<unknown>;
  rollback(): Promise<unknown>;
}

const ofSequelize: Readonly<Record<string, Way>> = {
  query: (transaction: SequelizeTx, text) => transaction.sequelize.query(text, { transaction }),
  "its own end": (transaction: SequelizeTx, text) =>
    text === "commit" ? transaction.commit() : transaction.rollback(),
  "a nested transaction": (transaction: SequelizeTx, text) =>
    transaction.sequelize.transaction({ transaction }, (inner) =>
      transaction.sequelize.query(text, { transaction: inner }),
    ),
};

interface PrismaTx {
  $executeRaw(text: unknown): Promise<unknown>;
  $executeRawUnsafe(text: string): Promise<unknown>;
  $queryRaw(text: unknown): Promise<unknown>;
  $queryRawUnsafe(text: string): Promise<unknown>;
  $queryRawTyped(query: object): Promise<unknown>;
  $transaction?(work: (tx: PrismaTx) => Promise<unknown>): Promise<unknown>;
}

const ofPrisma: Readonly<Record<string, Way>> = {
  $executeRawUnsafe: (tx: PrismaTx, text) => tx.$executeRawUnsafe(text),
  $queryRawUnsafe: (tx: PrismaTx, text) => tx.$queryRawUnsafe(text),
  "$executeRaw of Prisma.raw": (tx: PrismaTx, text) => tx.$executeRaw(Prisma.raw(text)),
  "$executeRaw of a template": (tx: PrismaTx, text) => tx.$executeRaw(template(text)),
  "$queryRaw of Prisma.sql": (tx: PrismaTx, text) => tx.$queryRaw(Prisma.sql`${Prisma.raw(text)}`),
};

type PgliteTx = Parameters<Parameters<PGlite["transaction"]>[0]>[0];

const ofPglite: Readonly<Record<string, Way>> = {
  query: (tx: PgliteTx, text) => tx.query(text),
  exec: (tx: PgliteTx, text) => tx.exec(text),
  sql: (tx: PgliteTx, text) => tx.sql(template(text)),
  "sql with a raw part": (tx: PgliteTx, text) => tx.sql`${rawPart(template(text))}`,
  "sql with a nested part": (tx: PgliteTx, text) => tx.sql`${part`${rawPart(template(text))}`}`,
  "its own end": (tx: PgliteTx, text) => (text === "rollback" ? tx.rollback() : tx.exec(text)),
};

const ways: Readonly<Record<string, Readonly<Record<string, Way>>>> = {
  "drizzle on pg": ofDrizzle,
  "drizzle on postgres": ofDrizzle,
  kysely: ofKysely,
  knex: ofKnex,
  typeorm: ofTypeOrm,
  "mikro-orm": isMikroOrm6 ? ofMikroOrm : ofMikroOrm7,
  sequelize: ofSequelize,
  prisma: ofPrisma,
  pglite: ofPglite,
};

describe.each(orms)("a handler on $name", (orm) => {
  const pool = orm.open(url, { max: 2 });
  const store = postgresStore({ client: pool.client });
  beforeAll(() => pool.rows("create table if not exists effect (event_id text not null)"));
  const own = Object.entries(ways[orm.name] ?? {});

  it("has ways to send a statement that are tried here", () => {
    expect(own.length).toBeGreaterThan(0);
  });

  const write = (tx: unknown, { id }: Arrival): Promise<unknown> => pool.inside(tx, insertOf(id));
  const accept = (arrival: Arrival, work: (tx: never) => Promise<unknown>): Promise<Acceptance> =>
    store.accept(arrival, (tx) => work(tx).then(() => success), {
      acquireMs: 5000,
      signal: AbortSignal.timeout(20_000),
    });
  const effectsOf = async ({ id }: Arrival): Promise<number> =>
    (await pool.rows(`select 1 as one from effect where event_id = '${id}'`)).length;

  describe.each(["commit", "rollback"])("that sends %s", (text) => {
    it.each(own)("by %s fails, and nothing that it wrote stays", async (_, way) => {
      const arrival = newArrival();
      const acceptance = await accept(arrival, async (tx) => {
        await write(tx, arrival);
        // As a handler that goes on, whether the refusal is thrown or rejects.
        await Promise.resolve()
          .then(() => way(tx, text))
          .catch(() => undefined);
        await write(tx, arrival);
      });
      expect(await effectsOf(arrival)).toBe(0);
      expect(acceptance).toMatchObject({ kind: "failed", error: { code: "store_transaction_owned" } });
    });
  });

  const nested = ways[orm.name]?.["a nested transaction"];
  const without = nested === undefined && "the ORM has no nested transactions in a callback's transaction";
  it("that lets a nested transaction fail goes on after it, and is applied", skipFor(without), async () => {
    const arrival = newArrival();
    const acceptance = await accept(arrival, async (tx) => {
      await write(tx, arrival);
      await expect(nested?.(tx, "select 1 / 0")).rejects.toBeDefined();
      await nested?.(tx, insertOf(arrival.id));
    });
    expect([acceptance.kind, await effectsOf(arrival)]).toEqual(["applied", 2]);
  });
});

function insertOf(id: string): string {
  return `insert into effect (event_id) values ('${id}')`;
}
