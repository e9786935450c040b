import type { RemovedToken, TokenRecord, TokenRegistry } from "../token.js";
import { dateOf, instantOf, msOf } from "./database.js";
import type { RegistryDatabase } from "./database.js";

export interface TokenRow {
  readonly id: string;
  readonly name: string;
  readonly scope: TokenRecord["scope"];
  readonly hash: string;
  readonly created: string;
  readonly expires: string | null;
  readonly used: string | null;
}

/** The columns of a token, of the table that goes by this name in the statement. */
export function columnsOf(table: string): string {
  return `${table}.id, ${table}.name, ${table}.scope, encode(${table}.hash, 'hex') as hash,
  ${msOf(`${table}.created_at`)} as created, ${msOf(`${table}.expires_at`)} as expires,
  ${msOf(`${table}.last_used_at`)} as used`;
}

const COLUMNS = columnsOf("token");
const VALUES = `$1::text, $2::text, $3::text, decode($4::text, 'hex'), ${instantOf("$5")}, ${instantOf("$6")}, ${instantOf("$7")}`;

export class PostgresTokens implements TokenRegistry {
  readonly #db: RegistryDatabase;
  readonly #table: string;

  constructor(db: RegistryDatabase) {
    this.#db = db;
    this.#table = db.table("token");
  }

  async addToken(token: TokenRecord): Promise<void> {
    await this.#db.query(
      `insert into ${this.#table} (id, name, scope, hash, created_at, expires_at, last_used_at) values (${VALUES})`,
      valuesOf(token),
    );
  }

  async addFirstToken(token: TokenRecord): Promise<boolean> {
    // If two nodes both see an empty table, the unique index on `first` lets the second wait, and then add nothing.
    const rows = await this.#db.query(
      `insert into ${this.#table} (id, name, scope, hash, created_at, expires_at, last_used_at, first)
       select ${VALUES}, true where not exists (select from ${this.#table})
       on conflict do nothing returning id`,
      valuesOf(token),
    );
    return rows.length > 0;
  }

  async findToken(hash: Uint8Array): Promise<TokenRecord | undefined> {
    const [row] = await this.#db.query<TokenRow>(
      `select ${COLUMNS} from ${this.#table} where hash = decode($1::text, 'hex')`,
      [hexOf(hash)],
    );
    return row && tokenOf(row);
  }

  async removeToken(id: string, at: Date): Promise<RemovedToken> {
    // The token that allows the removal stays locked until the commit. A removal of that one waits here, and then does not
    // find this one. All lock in the order of ids, so that two removals cannot wait for each other.
    const [row] = await this.#db.query<{ removed: string; known: string }>(
      `with working as materialized (
         select working.id from ${this.#table} working where ${works("working")} order by working.id for update
       ), removed as (
         delete from ${this.#table} token where token.id = $1::text
           and (not ${works("token")} or exists (select from working where working.id <> $1::text))
         returning token.id
       )
       select (select count(*) from removed)::text as removed,
         (select count(*) from ${this.#table} token where token.id = $1::text)::text as known`,
      [id, String(at.getTime())],
    );
    if (row?.removed === "1") return "removed";
    return row?.known === "1" ? "last_full" : "unknown";
  }

  async listTokens(page: {
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly TokenRecord[]> {
    const rows = await this.#db.query<TokenRow>(
      `select ${COLUMNS} from ${this.#table} where id > $1::text order by id limit $2::text::int8`,
      [page.after ?? "", String(page.limit)],
    );
    return rows.map((row) => tokenOf(row));
  }

  async touchToken(id: string, at: Date): Promise<void> {
    // At most once a minute: otherwise every request would write this row.
    await this.#db.query(
      `update ${this.#table} set last_used_at = ${instantOf("$2")}
       where id = $1::text and (last_used_at is null or last_used_at <= ${instantOf("$2")} - interval '1 minute')`,
      [id, String(at.getTime())],
    );
  }
}

/** SQL for whether a token has the scope full and works at the time of the second parameter. */
function works(token: string): string {
  return `(${token}.scope = 'full' and (${token}.expires_at is null or ${token}.expires_at > ${instantOf("$2")}))`;
}

function valuesOf({ id, name, scope, hash, createdAt, expiresAt, lastUsedAt }: TokenRecord): unknown[] {
  return [
    id,
    name,
    scope,
    hexOf(hash),
    String(createdAt.getTime()),
    expiresAt === undefined ? null : String(expiresAt.getTime()),
    lastUsedAt === undefined ? null : String(lastUsedAt.getTime()),
  ];
}

export function tokenOf({ id, name, scope, hash, created, expires, used }: TokenRow): TokenRecord {
  return Object.freeze({
    id,
    name,
    scope,
    hash: new Uint8Array(Buffer.from(hash, "hex")),
    createdAt: dateOf(created),
    expiresAt: dateOf(expires),
    lastUsedAt: dateOf(used),
  });
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
