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
import { dateOf, instantOf, msOf } from "./database.js";
import type { RegistryDatabase } from "./database.js";

const COLUMNS = `id, ${msOf("at")} as ms, token_id, token_name, via, action, kind, subject, before, after, note,
  status::text as status, request_id`;

export class PostgresAudit implements AuditRegistry, DeadNoteRegistry {
  readonly #db: RegistryDatabase;
  readonly #audit: string;
  readonly #notes: string;

  constructor(db: RegistryDatabase) {
    this.#db = db;
    this.#audit = db.table("audit");
    this.#notes = db.table("dead_note");
  }

  async beginAudit({ id, at, by, action, subject, before, note, requestId }: AuditBegin): Promise<void> {
    await this.#db.query(
      `insert into ${this.#audit}
         (id, at, token_id, token_name, via, action, kind, subject, before, note, request_id)
       values ($1::text, $2::text::timestamptz, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text, $9::text,
         $10::text, $11::text)`,
      [
        id,
        at,
        by.token,
        by.name,
        by.via,
        action,
        subject.kind,
        subject.id,
        before === null ? null : JSON.stringify(before),
        note,
        requestId,
      ],
    );
  }

  async endAudit(id: string, { subject, after, status }: AuditEnd): Promise<void> {
    await this.#db.query(
      `update ${this.#audit} set subject = coalesce($2::text, subject), after = $3::text, status = $4::text::int4
       where id = $1::text`,
      [id, subject, after === null ? null : JSON.stringify(after), String(status)],
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
      ...asked.map(({ sql, value }) => ({ sql: `${sql} =`, value })),
      ...(from === undefined ? [] : [{ sql: "id >=", value: from }]),
      ...(before === undefined ? [] : [{ sql: "id <", value: before }]),
    ];
    const conditions = wanted.map(({ sql }, n) => `${sql} $${n + 2}::text`);
    const rows = await this.#db.query<StoredAudit>(
      `select ${COLUMNS} from ${this.#audit} ${conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`}
       order by id desc limit $1::text::int8`,
      [String(limit), ...wanted.map(({ value }) => value)],
    );
    return rows.map((row) => entryOf(row));
  }

  async auditOf(subjects: readonly string[], limit: number): Promise<readonly AuditEntry[]> {
    const rows = await this.#db.query<StoredAudit>(
      // Subject by subject: for all at once, Postgres would rather walk over the whole past by id.
      `select found.* from unnest($1::text[]) as wanted (subject) cross join lateral (
         select ${COLUMNS} from ${this.#audit} as audit where audit.subject = wanted.subject
         order by id desc limit $2::text::int8
       ) as found order by found.id desc limit $2::text::int8`,
      [[...subjects], String(limit)],
    );
    return rows.map((row) => entryOf(row));
  }

  async writeNote({ groupId, text, by, at }: DeadNoteRecord): Promise<void> {
    await this.#db.query(
      `insert into ${this.#notes} (group_id, text, written_by, written_at)
       values ($1::text, $2::text, $3::text, ${instantOf("$4")})
       on conflict (group_id) do update
         set text = excluded.text, written_by = excluded.written_by, written_at = excluded.written_at`,
      [groupId, text, by, String(at.getTime())],
    );
  }

  async removeNote(groupId: string): Promise<void> {
    await this.#db.query(`delete from ${this.#notes} where group_id = $1::text`, [groupId]);
  }

  async readNotes(groupIds: readonly string[]): Promise<readonly DeadNoteRecord[]> {
    const rows = await this.#db.query<{ group_id: string; text: string; written_by: string; ms: string }>(
      `select group_id, text, written_by, ${msOf("written_at")} as ms from ${this.#notes}
       where group_id = any ($1::text[])`,
      [[...groupIds]],
    );
    return rows.map(({ group_id: groupId, text, written_by: by, ms }) => ({
      groupId,
      text,
      by,
      at: dateOf(ms),
    }));
  }
}
