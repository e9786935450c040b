import type { OpenSession, SessionRecord, SessionRegistry } from "../session.js";
import type { RegistryDatabase } from "./database.js";
import { tokenOf } from "./tokens.js";
import type { TokenRow } from "./tokens.js";

interface Row extends TokenRow {
  readonly session_hash: Uint8Array;
  readonly opened_at: number;
  readonly ends_at: number;
}

export class SqliteSessions implements SessionRegistry {
  readonly #db: RegistryDatabase;

  constructor(db: RegistryDatabase) {
    this.#db = db;
  }

  async addSession({ hash, tokenId, createdAt, expiresAt }: SessionRecord): Promise<void> {
    await this.#db.transaction((run) => {
      run(
        "delete from posthorn_session where expires_at <= ? or token_id not in (select id from posthorn_token)",
        createdAt.getTime(),
      );
      run(
        "insert into posthorn_session (hash, token_id, created_at, expires_at) values (?, ?, ?, ?)",
        hash,
        tokenId,
        createdAt.getTime(),
        expiresAt.getTime(),
      );
    });
  }

  async findSession(hash: Uint8Array): Promise<OpenSession | undefined> {
    const [row] = await this.#db.all<Row>(
      `select session.hash as session_hash, session.created_at as opened_at, session.expires_at as ends_at, token.*
       from posthorn_session session join posthorn_token token on token.id = session.token_id
       where session.hash = ?`,
      hash,
    );
    return row && openSessionOf(row);
  }

  async removeSession(hash: Uint8Array): Promise<boolean> {
    return (await this.#db.run("delete from posthorn_session where hash = ?", hash)) > 0;
  }
}

function openSessionOf(row: Row): OpenSession {
  const session: SessionRecord = Object.freeze({
    hash: new Uint8Array(row.session_hash),
    tokenId: row.id,
    createdAt: new Date(row.opened_at),
    expiresAt: new Date(row.ends_at),
  });
  return Object.freeze({ session, token: tokenOf(row) });
}
