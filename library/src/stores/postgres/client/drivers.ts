// The drivers' own types, as far as they are used: the library depends on neither, the host hands its client in.

import type { OrmClient } from "./orms/orm-client.js";

interface PgQuery {
  text: string;
  values?: unknown[];
  /** Makes it a prepared statement of the connection. */
  name?: string;
  rowMode: "array";
  /** How the values of this query alone are read, whatever the host has set for all. */
  types: { getTypeParser(typeId: number): (value: string) => unknown };
}

interface PgResult {
  command: string;
  rows: unknown[][];
}

/** A connection of `pg`: a Client, or a PoolClient. */
export interface PgClient {
  query(query: PgQuery | string): Promise<PgResult>;
  on(event: "error", listener: (error: Error) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
  escapeIdentifier(name: string): string;
}

export interface PgPoolClient extends PgClient {
  release(destroy?: boolean): void;
}

/** A Pool of `pg`. Its second `connect` is here because inference looks at overloads from the last one on. */
export interface PgPool<Tx> {
  connect(): Promise<Tx>;
  connect(
    callback: (error: Error | undefined, client: Tx | undefined, done: (release?: unknown) => void) => void,
  ): void;
  readonly totalCount: number;
  readonly idleCount: number;
}

/** A query of `postgres`: sent when it is awaited. */
export interface PostgresQuery {
  /** Values as the server sent them: no parser and no transform of the host's is applied. */
  raw(): PromiseLike<{
    readonly command: string;
    readonly columns: readonly { readonly type: number }[];
    readonly length: number;
    readonly [index: number]: unknown;
  }>;
  cancel(): void;
}

interface PostgresUnsafe {
  unsafe(
    query: string,
    parameters?: (string | number | null | Uint8Array)[],
    options?: { prepare?: boolean },
  ): PostgresQuery;
}

/** What `sql.begin` of `postgres` hands to its callback. */
export interface PostgresTransaction extends PostgresUnsafe {
  readonly savepoint: unknown;
}

/** What `sql.reserve` of `postgres` gives. */
export interface PostgresReserved extends PostgresUnsafe {
  release(): void;
}

/** The `sql` of `postgres`: its pool. */
export interface PostgresSql<Tx> extends PostgresUnsafe {
  begin<T>(options: string, work: (sql: Tx) => Promise<T>): Promise<unknown>;
  reserve(): Promise<unknown>;
}

/** Any pool that the store works on; `Tx` is what the driver gives inside a transaction. */
export type PostgresPool<Tx> = PgPool<Tx> | PostgresSql<Tx> | OrmClient<Tx>;

/** A connection that may be inside a transaction of the host. */
export type PostgresConnection = PgClient | PostgresTransaction | PostgresReserved;
