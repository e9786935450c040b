import type { PoolClient } from "pg";
import { Client, Pool } from "pg";
import type { ReservedSql, Sql, TransactionSql } from "postgres";
import postgres from "postgres";
import { describe, expect, expectTypeOf, it } from "vitest";
import type {
  PgClient,
  PgPool,
  PostgresConnection,
  PostgresPool,
  PostgresReserved,
  PostgresSql,
  PostgresTransaction,
} from "./drivers.js";
import { clientKind } from "./client.js";

// Nothing here connects: both drivers open their first connection at the first query.
const pool = new Pool({ host: "127.0.0.1", port: 1 });
const transactionOf = <Tx>(_client: PostgresPool<Tx>): Tx | undefined => undefined;
const sql = postgres({ host: "127.0.0.1", port: 1 });

describe("the drivers' own types", () => {
  it("fit the shapes that the store asks for", () => {
    expectTypeOf<Pool>().toExtend<PgPool<PoolClient>>();
    expectTypeOf<Client>().toExtend<PgClient>();
    expectTypeOf<PoolClient>().toExtend<PgClient>();
    expectTypeOf<Sql>().toExtend<PostgresSql<TransactionSql>>();
    expectTypeOf<Sql<{ big: bigint }>>().toExtend<PostgresSql<TransactionSql<{ big: bigint }>>>();
    expectTypeOf<TransactionSql>().toExtend<PostgresTransaction>();
    expectTypeOf<ReservedSql>().toExtend<PostgresReserved>();
    expectTypeOf<PoolClient | TransactionSql>().toExtend<PostgresConnection>();
  });

  it("name the transaction that the handler gets", () => {
    expectTypeOf(transactionOf(pool)).toEqualTypeOf<PoolClient | undefined>();
    expectTypeOf(transactionOf(sql)).toEqualTypeOf<TransactionSql | undefined>();
  });
});

describe("a client", () => {
  it("is known by what it can do", () => {
    expect(clientKind(pool).kind).toBe("pg_pool");
    expect(clientKind(new Client()).kind).toBe("pg_client");
    expect(clientKind(sql).kind).toBe("postgres_sql");
  });

  it.each([
    ["nothing", undefined],
    ["a connection string", "postgres://localhost/app"],
    ["a MySQL connection", { query: () => {}, execute: () => {}, on: () => {}, escapeId: () => "" }],
    ["a SQLite database", { prepare: () => {}, exec: () => {}, pragma: () => {} }],
    ["a Redis client", { get: () => {}, set: () => {}, on: () => {} }],
  ])("of another kind is refused: %s", (_name, client) => {
    expect(() => clientKind(client)).toThrow(expect.objectContaining({ code: "store_client_unsupported" }));
  });
});
