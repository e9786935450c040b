import type { TokenRecord, TokenRegistry } from "../token.js";
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

  async removeToken(id: string): Promise<boolean> {
    const rows = await this.#db.query(`delete from ${this.#table} where id = $1::text returning id`, [id]);
    return rows.length > 0;
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
