import Database from "better-sqlite3";
import type { Database as Db } from "better-sqlite3";
import { sqliteStore } from "posthorn/sqlite";
import type { QuickClock } from "../quick-clock.js";
import { templateWith } from "../template.js";
import { hashOf } from "../wire.js";
import type { EffectRow, Ground, HandlerForms, ReadRow, Work, Write } from "./form.js";

const TEMPLATE = await templateWith(
  "create table effect (consumer text, round integer, source text, id text, body blob)",
);

const FORMS: HandlerForms<Db, "synchronous"> = {
  one:
    (work) =>
    (event, { idempotencyKey }) =>
    (tx) =>
      work(event, idempotencyKey("effect"), writeTo(tx)),
  batch: (max, work) => ({ by: "key", max, batch: (events) => (tx) => work(events, writeTo(tx)) }),
  long: (deadlineMs, before, work: Work) => ({
    deadlineMs,
    long: async (event, context) => {
      await before(event, context);
      return (tx: Db) => work(event, context.idempotencyKey("effect"), writeTo(tx));
    },
  }),
};

function writeTo(tx: Db): Write {
  return ({ consumer, round, source, id, body }) => {
    tx.prepare("insert into effect values (?, ?, ?, ?, ?)").run(consumer, round, source, id, body);
  };
}

/** A database of its own, in memory: nothing of it would survive a loss of power, and nobody loses it. */
export function sqliteGround(clock: QuickClock): Ground<Db, "synchronous"> {
  const db = new Database(TEMPLATE);
  return {
    forms: FORMS,
    store: () => sqliteStore({ db, clock, durability: "as_is", observer: () => undefined }),
    effects: () => db.prepare("select * from effect order by rowid").all() as EffectRow[],
    rows: () => Promise.resolve(readRows(db)),
    close: () => void db.close(),
  };
}

function readRows(db: Db): readonly ReadRow[] {
  const rows = db
    .prepare(
      `select i.tenant, i.source, i.event_id as id, i.consumer, i.round, i.outcome, i.body_hash as hash,
         coalesce(i.body, e.body) as body
       from posthorn_inbox i left join posthorn_event e on e.public_id = i.stored_as`,
    )
    .all() as (Omit<ReadRow, "hashColumn" | "bodyHash"> & Record<"hash" | "body", Buffer>)[];
  return rows.map(({ hash, body, ...row }) =>
    Object.assign(row, { hashColumn: hash.toString("hex"), bodyHash: hashOf(body) }),
  );
}
