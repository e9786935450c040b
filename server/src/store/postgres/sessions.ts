import type { OpenSession, SessionRecord, SessionRegistry } from "../session.js";
import { dateOf, instantOf, msOf } from "./database.js";
import type { RegistryDatabase } from "./database.js";

import { columnsOf, tokenOf } from "./tokens.js";
import type { TokenRow } from "./tokens.js";

interface Row extends TokenRow {
  readonly session_hash: string;
  readonly opened: string;
  readonly ends: string;
}

export class PostgresSessions implements SessionRegistry {
  readonly #db: RegistryDatabase;
  readonly #table: string;
  readonly #tokens: string;

  constructor(db: RegistryDatabase) {
    this.#db = db;
    this.#table = db.table("session");
    this.#tokens = db.table("token");
  }

  async addSession({ hash, tokenId, createdAt, expiresAt }: SessionRecord): Promise<void> {
    // One statement, one transaction: a session that was added is never swept by its own addition.
    await this.#db.query(
      `with ended as (
         delete from ${this.#table} session
         where session.expires_at <= ${instantOf("$3")}
            or not exists (select from ${this.#tokens} token where token.id = session.token_id)
       )
       insert into ${this.#table} (hash, token_id, created_at, expires_at)
       values (decode($1::text, 'hex'), $2::text, ${instantOf("$3")}, ${instantOf("$4")})`,
      [hexOf(hash), tokenId, String(createdAt.getTime()), String(expiresAt.getTime())],
    );
  }

  async findSession(hash: Uint8Array): Promise<OpenSession | undefined> {
    const [row] = await this.#db.query<Row>(
      `select encode(session.hash, 'hex') as session_hash, ${msOf("session.created_at")} as opened,
         ${msOf("session.expires_at")} as ends, ${columnsOf("token")}
       from ${this.#table} session join ${this.#tokens} token on token.id = session.token_id
       where session.hash = decode($1::text, 'hex')`,
      [hexOf(hash)],
    );
    return row && openSessionOf(row);
  }

  async removeSession(hash: Uint8Array): Promise<boolean> {
    const rows = await this.#db.query(
      `delete from ${this.#table} where hash = decode($1::text, 'hex') returning token_id`,
      [hexOf(hash)],
    );
    return rows.length > 0;
  }
}

function openSessionOf(row: Row): OpenSession {
  const session: SessionRecord = Object.freeze({
    hash: new Uint8Array(Buffer.from(row.session_hash, "hex")),
    tokenId: row.id,
    createdAt: dateOf(row.opened),
    expiresAt: dateOf(row.ends),
  });
  return Object.freeze({ session, token: tokenOf(row) });
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
