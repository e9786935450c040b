import type { AuditEntry } from "posthorn/client";
import type {
  AuditBegin,
  AuditEnd,
  AuditQuery,
  AuditRegistry,
  DeadNoteRecord,
  DeadNoteRegistry,
} from "../audit.js";
import { entryOf } from "../stored-audit.js";
import type { StoredAudit } from "../stored-audit.js";
import type { RegistryDatabase } from "./database.js";

const COLUMNS =
  "id, at as ms, token_id, token_name, via, action, kind, subject, before, after, note, status, request_id";

export class SqliteAudit implements AuditRegistry, DeadNoteRegistry {
  readonly #db: RegistryDatabase;

  constructor(db: RegistryDatabase) {
    this.#db = db;
  }

  async beginAudit({ id, at, by, action, subject, before, note, requestId }: AuditBegin): Promise<void> {
    await this.#db.run(
      `insert into posthorn_audit
         (id, at, token_id, token_name, via, action, kind, subject, before, note, request_id)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      id,
      Date.parse(at),
      by.token,
      by.name,
      by.via,
      action,
      subject.kind,
      subject.id,
      before === null ? null : JSON.stringify(before),
      note,
      requestId,
    );
  }

  async endAudit(id: string, { subject, after, status }: AuditEnd): Promise<void> {
    await this.#db.run(
      "update posthorn_audit set subject = coalesce(?, subject), after = ?, status = ? where id = ?",
      subject,
      after === null ? null : JSON.stringify(after),
      status,
      id,
    );
  }

  async listAudit({
    actor,
    action,
    kind,
    subject,
    from,
    before,
    limit,
  }: AuditQuery): Promise<readonly AuditEntry[]> {
    const columns = { token_id: actor, action, kind, subject };
    const asked = Object.entries(columns).flatMap(([sql, value]) =>
      value === undefined ? [] : [{ sql, value }],
    );
    const wanted = [
      ...asked.map(({ sql, value }) => ({ sql: `${sql} = ?`, value })),
      ...(from === undefined ? [] : [{ sql: "id >= ?", value: from }]),
      ...(before === undefined ? [] : [{ sql: "id < ?", value: before }]),
    ];
    const where = wanted.length === 0 ? "" : `where ${wanted.map(({ sql }) => sql).join(" and ")}`;
    const rows = await this.#db.all<StoredAudit>(
      `select ${COLUMNS} from posthorn_audit ${where} order by id desc limit ?`,
      ...wanted.map(({ value }) => value),
      limit,
    );
    return rows.map((row) => entryOf(row));
  }

  async auditOf(subjects: readonly string[], limit: number): Promise<readonly AuditEntry[]> {
    const rows = await this.#db.all<StoredAudit>(
      `select ${COLUMNS} from posthorn_audit
       where subject in (select value from json_each(?)) order by id desc limit ?`,
      JSON.stringify(subjects),
      limit,
    );
    return rows.map((row) => entryOf(row));
  }

  async writeNote({ groupId, text, by, at }: DeadNoteRecord): Promise<void> {
    await this.#db.run(
      `insert into posthorn_dead_note (group_id, text, written_by, written_at) values (?, ?, ?, ?)
       on conflict (group_id) do update
         set text = excluded.text, written_by = excluded.written_by, written_at = excluded.written_at`,
      groupId,
      text,
      by,
      at.getTime(),
    );
  }

  async removeNote(groupId: string): Promise<void> {
    await this.#db.run("delete from posthorn_dead_note where group_id = ?", groupId);
  }

  async readNotes(groupIds: readonly string[]): Promise<readonly DeadNoteRecord[]> {
    const rows = await this.#db.all<{
      group_id: string;
      text: string;
      written_by: string;
      written_at: number;
    }>(
      `select group_id, text, written_by, written_at from posthorn_dead_note
       where group_id in (select value from json_each(?))`,
      JSON.stringify(groupIds),
    );
    return rows.map(({ group_id: groupId, text, written_by: by, written_at }) => ({
      groupId,
      text,
      by,
      at: new Date(written_at),
    }));
  }
}
