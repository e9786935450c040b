import { PosthornError } from "../../../posthorn-error.js";
import type { StoreErrorCode } from "../../../store-errors.js";

// The drivers' own types, as far as they are used: the library depends on neither, the host hands its client in.

interface PgQuery {
  text: string;
  values?: unknown[];
  /** Makes it a prepared statement of the connection. */
  name?: string;
  rowMode: "array";
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

interface PgPoolClient extends PgClient {
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
  values(): PromiseLike<{
    readonly command: string;
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
export type PostgresPool<Tx> = PgPool<Tx> | PostgresSql<Tx>;

/** A connection that may be inside a transaction of the host. */
export type PostgresConnection = PgClient | PostgresTransaction | PostgresReserved;

export type ClientKind =
  | { readonly kind: "pg_pool"; readonly client: PgPool<PgPoolClient> }
  | { readonly kind: "pg_client"; readonly client: PgClient }
  | { readonly kind: "postgres_sql"; readonly client: PostgresSql<PostgresTransaction> }
  | { readonly kind: "postgres_transaction"; readonly client: PostgresTransaction }
  | { readonly kind: "postgres_reserved"; readonly client: PostgresReserved };

export type { PgPoolClient };

/** Tells the clients apart by what they can do; another database's client has other verbs, and is refused here. */
export function clientKind(client: unknown): ClientKind {
  const can = (...verbs: string[]): boolean =>
    verbs.every(
      (verb) => typeof (client as Record<string, unknown> | null | undefined)?.[verb] === "function",
    );
  if (typeof client === "function" && can("unsafe")) {
    if (can("savepoint")) return { kind: "postgres_transaction", client: client as never };
    if (can("begin", "reserve")) return { kind: "postgres_sql", client: client as never };
    if (can("release")) return { kind: "postgres_reserved", client: client as never };
  }
  if (typeof client === "object" && client !== null) {
    if (can("connect", "query") && "totalCount" in client && "idleCount" in client) {
      return { kind: "pg_pool", client: client as never };
    }
    if (can("query", "escapeIdentifier", "on")) return { kind: "pg_client", client: client as never };
  }
  throw new PosthornError<StoreErrorCode>(
    "store_client_unsupported",
    `The client is ${describe(client)}; expected a Pool or a client of \`pg\`, or the \`sql\` of \`postgres\`. ` +
      "An ORM holds one of these: hand in that.",
  );
}

/** For messages: what was handed in, never its content. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  const name = (value as { constructor?: { name?: string } }).constructor?.name;
  return name === undefined || name === "" ? `of type ${typeof value}` : `of class ${name}`;
}
