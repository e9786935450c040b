import type { RemovedToken, TokenRecord, TokenRegistry } from "../token.js";
import type { RegistryDatabase } from "./database.js";

export interface TokenRow {
  readonly id: string;
  readonly name: string;
  readonly scope: TokenRecord["scope"];
  readonly hash: Uint8Array;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
}

const COLUMNS = "id, name, scope, hash, created_at, expires_at, last_used_at";
const MINUTE_MS = 60_000;

export class SqliteTokens implements TokenRegistry {
  readonly #db: RegistryDatabase;

  constructor(db: RegistryDatabase) {
    this.#db = db;
  }

  async addToken(token: TokenRecord): Promise<void> {
    await this.#db.run(
      `insert into posthorn_token (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?)`,
      ...valuesOf(token),
    );
  }

  async addFirstToken(token: TokenRecord): Promise<boolean> {
    const added = await this.#db.run(
      `insert into posthorn_token (${COLUMNS}) select ?, ?, ?, ?, ?, ?, ? where not exists (select 1 from posthorn_token)`,
      ...valuesOf(token),
    );
    return added > 0;
  }

  async findToken(hash: Uint8Array): Promise<TokenRecord | undefined> {
    const [row] = await this.#db.all<TokenRow>(`select ${COLUMNS} from posthorn_token where hash = ?`, hash);
    return row && tokenOf(row);
  }

  async removeToken(id: string, at: Date): Promise<RemovedToken> {
    const works = "(scope = 'full' and (expires_at is null or expires_at > ?))";
    const removed = await this.#db.run(
      `delete from posthorn_token where id = ?
         and (not ${works} or exists (select 1 from posthorn_token where id <> ? and ${works}))`,
      id,
      at.getTime(),
      id,
      at.getTime(),
    );
    if (removed > 0) return "removed";
    const [known] = await this.#db.all("select 1 from posthorn_token where id = ?", id);
    return known === undefined ? "unknown" : "last_full";
  }

  async listTokens(page: {
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly TokenRecord[]> {
    const rows = await this.#db.all<TokenRow>(
      `select ${COLUMNS} from posthorn_token where id > ? order by id limit ?`,
      page.after ?? "",
      page.limit,
    );
    return rows.map((row) => tokenOf(row));
  }

  async touchToken(id: string, at: Date): Promise<void> {
    // At most once a minute: each write waits for the disk.
    const ms = at.getTime();
    await this.#db.run(
      "update posthorn_token set last_used_at = ? where id = ? and (last_used_at is null or last_used_at <= ?)",
      ms,
      id,
      ms - MINUTE_MS,
    );
  }
}

function valuesOf(
  token: TokenRecord,
): [string, string, string, Uint8Array, number, number | null, number | null] {
  const { id, name, scope, hash, createdAt, expiresAt, lastUsedAt } = token;
  return [
    id,
    name,
    scope,
    hash,
    createdAt.getTime(),
    expiresAt?.getTime() ?? null,
    lastUsedAt?.getTime() ?? null,
  ];
}

export function tokenOf({
  id,
  name,
  scope,
  hash,
  created_at,
  expires_at,
  last_used_at,
}: TokenRow): TokenRecord {
  return Object.freeze({
    id,
    name,
    scope,
    hash: new Uint8Array(hash),
    createdAt: new Date(created_at),
    expiresAt: expires_at === null ? undefined : new Date(expires_at),
    lastUsedAt: last_used_at === null ? undefined : new Date(last_used_at),
  });
}
