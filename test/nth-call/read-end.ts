import type { Database } from "better-sqlite3";
import type { HistoryWriter } from "posthorn/testing";
import { refOf } from "./life.js";
import { hashOf } from "./wire.js";

// What is left in the tables, read by somebody who is none of those who wrote them.

const APP = { tenant: "default", source: "app" };

/** How many deliveries wait for nothing but a worker, or are under way. */
export function pendingIn(db: Database): number {
  const sql = `
    select (select coalesce(sum(next_seq - head_seq), 0) from posthorn_lane l
        join posthorn_consumer c on c.id = l.consumer and c.state <> 'paused' where l.state = 'flowing')
      + (select count(*) from posthorn_loose_delivery where ready_at is not null)
      + (select count(*) from posthorn_later) + (select count(*) from posthorn_stage) + (select count(*) from posthorn_held)`;
  return Number(db.prepare(sql).pluck().get());
}

/** How many lanes have stopped. */
export function stoppedIn(db: Database): number {
  return Number(db.prepare("select count(*) from posthorn_lane where state <> 'flowing'").pluck().get());
}

/** How many deliveries were skipped that were still due. */
export function passedIn(db: Database): number {
  const sql = "select count(*) from posthorn_cancelled where because = 'skipped'";
  return Number(db.prepare(sql).pluck().get());
}

interface Row {
  readonly endpoint: string;
  readonly key: string | null;
  readonly generation: string | null;
  readonly seq: string;
  readonly body: Uint8Array;
  readonly round: number;
}

/** Writes everything to the history. */
export function readEnd(db: Database, reader: HistoryWriter): void {
  readEffects(db, reader);
  readInbox(db, reader);
  const events = all(db, "select public_id as wireId, body from posthorn_event") as {
    wireId: string;
    body: Uint8Array;
  }[];
  for (const { wireId, body } of events)
    reader.see("event_row", { ...nameOf(body), bodyHash: hashOf(body), wireId });
  const business = all(db, "select ref from business") as { ref: string }[];
  for (const { ref } of business) reader.see("business_row", { ...APP, id: ref });
  const attempts = readAttempts(db, reader);
  const deliveries = readDeliveries(db, reader);
  reader.see("outbox_read", {
    events: events.length,
    business: business.length,
    attempts,
    deliveries,
  });
}

function readEffects(db: Database, reader: HistoryWriter): void {
  const effects = all(db, "select * from effect") as { source: string; id: string; body: Uint8Array }[];
  for (const { source, id, body } of effects)
    reader.see("effect", { tenant: "default", source, id, bodyHash: hashOf(body) });
  reader.see("effects_read", { rows: effects.length, counted: effects.length });
}

function readInbox(db: Database, reader: HistoryWriter): void {
  const rows = all(
    db,
    "select tenant, source, event_id as id, outcome, body_hash as hash, body from posthorn_inbox",
  ) as (Record<"tenant" | "source" | "id" | "outcome", string> & Record<"hash" | "body", Buffer>)[];
  for (const { tenant, source, id, outcome, hash, body } of rows) {
    const hashColumn = Buffer.from(hash).toString("hex");
    reader.see("stored", { tenant, source, id, outcome, bodyHash: hashOf(body), hashColumn });
  }
  reader.see("inbox_read", { rows: rows.length, sources: ["shop", "loop"] });
}

// Lanes of removed endpoints are gone; nothing was ever sent there.
const PLACED = `
  left join posthorn_lane l on l.id = t.lane
  join posthorn_event e on e.id = t.event`;
const PLACE = `l.key, cast(l.generation as text) as generation, cast(t.seq as text) as seq, e.body, t.round`;

function readAttempts(db: Database, reader: HistoryWriter): number {
  const rows = all(
    db,
    `select coalesce(c.public_id, 'ep_loop') as endpoint, ${PLACE}, t.no, t.outcome, t.started_at as startedAt,
       t.duration_ms as durationMs
     from posthorn_attempt t ${PLACED} left join posthorn_consumer c on c.id = l.consumer`,
  ) as (Row & { no: number; outcome: string; startedAt: number; durationMs: number })[];
  for (const { endpoint, body, round, no: number, outcome, startedAt, durationMs } of rows)
    reader.see("attempt_row", {
      ...nameOf(body),
      endpoint,
      round,
      number,
      outcome,
      startedAt,
      durationMs,
    });
  return rows.length;
}

function readDeliveries(db: Database, reader: HistoryWriter): number {
  const ended = `join posthorn_consumer c on c.id = t.consumer`;
  const rows = all(
    db,
    `select c.public_id as endpoint, ${PLACE}, iif(t.resolved_how = 'redriven', 'redriven', 'dead') as state, t.because
     from posthorn_dead t ${PLACED} ${ended}
     union all
     select c.public_id, ${PLACE}, 'cancelled', t.because from posthorn_cancelled t ${PLACED} ${ended}
     union all
     select c.public_id, ${PLACE}, 'due', iif(l.state = 'flowing', null, l.state) from posthorn_delivery t ${PLACED}
     join posthorn_consumer c on c.id = l.consumer
     where not exists (
       select 1 from posthorn_dead d where d.lane = t.lane and d.seq = t.seq and d.round = t.round and d.resolved_at is null
     )`,
  ) as (Row & { state: "due" | "dead" | "redriven" | "cancelled"; because: string | null })[];
  for (const { endpoint, body, round, state, because, key, generation, seq } of rows) {
    const place = key === null ? {} : { place: { key, generation: generation ?? "", sequence: seq } };
    reader.see("delivery_row", {
      ...nameOf(body),
      endpoint,
      round,
      state,
      because: because ?? undefined,
      ...place,
    });
  }
  return rows.length;
}

function all(db: Database, sql: string): unknown[] {
  return db.prepare(sql).all();
}

function nameOf(body: Uint8Array) {
  return { ...APP, id: refOf(body) };
}
