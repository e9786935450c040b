import type { SecretSeal } from "posthorn";
import type { RejectedRecord, RejectedRegistry } from "../rejected-request.js";
import { rejectedOf, storedRejected } from "../stored-rejected.js";
import type { StoredRejected } from "../stored-rejected.js";
import type { RegistryDatabase } from "./database.js";

type Row = StoredRejected & { readonly received: number; readonly body: Uint8Array };

const COLUMNS =
  "id, source, method, headers, body_bytes as bodyBytes, code, message, diagnosis, received_at as received";

export class SqliteRejected implements RejectedRegistry {
  readonly #db: RegistryDatabase;
  readonly #seal: SecretSeal;

  constructor(db: RegistryDatabase, seal: SecretSeal) {
    this.#db = db;
    this.#seal = seal;
  }

  async recordRejected(requests: readonly RejectedRecord[], keepPerSource: number): Promise<void> {
    if (requests.length === 0) return;
    // Not synced: nothing but people reads these rows, and during a flood there are four writes a second.
    await this.#db.unsynced((run) => {
      for (const request of requests) {
        const { id, source, method, headers, bodyBytes, code, message, diagnosis, sealed } = storedRejected(
          request,
          this.#seal,
        );
        run(
          `insert into posthorn_rejected (id, source, method, headers, body_bytes, code, message, diagnosis, request_sealed, received_at,
             body)
           values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do nothing`,
          id,
          source,
          method,
          headers,
          bodyBytes,
          code,
          message,
          diagnosis,
          sealed,
          request.receivedAt.getTime(),
          request.body,
        );
      }
      for (const source of new Set(requests.map((request) => request.source))) {
        // Finds the first surplus row: counting the rows for each batch would cost more with every row kept.
        run(
          `delete from posthorn_rejected where source = ? and id <= (
             select id from posthorn_rejected where source = ? order by id desc limit 1 offset ?)`,
          source,
          source,
          keepPerSource,
        );
      }
    });
  }

  async listRejected(page: {
    readonly source?: string | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly RejectedRecord[]> {
    const { source, after, limit } = page;
    // With `? is null or source = ?`, SQLite would scan the rows of all sources.
    const wanted = [source === undefined ? [] : ["source = ?"], after === undefined ? [] : ["id < ?"]].flat();
    const rows = await this.#db.all<Row>(
      `select ${COLUMNS}, null as sealed, x'' as body from posthorn_rejected
       ${wanted.length === 0 ? "" : `where ${wanted.join(" and ")}`} order by id desc limit ?`,
      ...[source, after].filter((value) => value !== undefined),
      limit,
    );
    return rows.map((row) => requestOf(row, this.#seal));
  }

  async removeRejected(before: Date, limit: number): Promise<number> {
    let removed = 0;
    await this.#db.unsynced((run) => {
      // Ids are in the order of receipt.
      removed = run(
        `delete from posthorn_rejected where id in (
           select id from (select id, received_at from posthorn_rejected order by id limit ?) where received_at < ?)`,
        limit,
        before.getTime(),
      );
    });
    return removed;
  }

  async readRejected(id: string): Promise<RejectedRecord | undefined> {
    const [row] = await this.#db.all<Row>(
      `select ${COLUMNS}, request_sealed as sealed, body from posthorn_rejected where id = ?`,
      id,
    );
    return row && requestOf(row, this.#seal);
  }

  async dropRejected(id: string): Promise<void> {
    await this.#db.unsynced((run) => void run("delete from posthorn_rejected where id = ?", id));
  }
}

function requestOf({ received, body, ...row }: Row, seal: SecretSeal): RejectedRecord {
  return rejectedOf(row, { receivedMs: received, body: new Uint8Array(body), seal });
}
