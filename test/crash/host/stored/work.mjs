// What the handlers of a worker write: a row for each event without a unique key, and the state of its key beside it, so
// that what was applied twice, torn or out of order can be seen.

/** @import Database from "better-sqlite3" */
/** @import { PoolClient } from "pg" */
/** @import { ReceivedEvent } from "posthorn" */
/** @import { HostOptions } from "../work.mjs" */

/** @typedef {{ key: string, place: number, version: number }} Stored */
/**
 * @typedef {object} Write
 * @property {string} consumer
 * @property {readonly ReceivedEvent<Stored>[]} events
 * @property {string} [effect] What a step has come to.
 * @property {Error | undefined} error Thrown after the writes.
 */

// These get their events in the order of versions: what comes last is the state. The others keep the highest.
const LAST_COUNTS = new Set(["held", "latest"]);
// Events of a source whose handler has a bug, until somebody mends it.
const BROKEN_EVERY = 5;

/** @param {HostOptions} options */
export function writerOf({ store }) {
  return /** @type {(write: Write, tx: unknown, how?: { isInner: boolean }) => unknown} */ (
    store === "sqlite" ? writtenInTurn : writtenByStatements
  );
}

/** @param {Write} write @param {Database.Database} tx @param {{ isInner: boolean }} [how] */
function writtenInTurn({ consumer, events, effect, error }, tx, { isInner } = { isInner: false }) {
  const inner = (/** @type {Database.Database} */ db) => {
    const insert = db.prepare(
      "insert into stream_applied (consumer, key, place, version, late, effect) values (?, ?, ?, ?, ?, ?)",
    );
    const changed = LAST_COUNTS.has(consumer) ? "excluded.version" : "max(version, excluded.version)";
    const update = db.prepare(
      `insert into stream_newest (consumer, key, version) values (?, ?, ?)
       on conflict (consumer, key) do update set version = ${changed}`,
    );
    for (const { data, order } of events) {
      const late = order?.late === true;
      insert.run(consumer, data.key, data.place, data.version, late ? 1 : 0, effect ?? null);
      if (!late) update.run(consumer, data.key, data.version);
    }
    if (isBroken(consumer, events) && db.prepare("select 1 from stream_mended").get() === undefined)
      throw broken();
    if (error) throw error;
  };
  return isInner ? inner(tx) : inner;
}

/** @param {Write} write @param {PoolClient} tx */
async function writtenByStatements({ consumer, events, effect, error }, tx) {
  const rows = events.map(({ data, order }) => ({ ...data, late: order?.late === true ? 1 : 0 }));
  await tx.query(
    `insert into stream_applied (consumer, key, place, version, late, effect)
     select $1, key, place, version, late, $3 from rows from
       (jsonb_to_recordset($2) as (key text, place int, version int, late int))
       with ordinality as r (key, place, version, late, nth)
     order by nth`,
    [consumer, JSON.stringify(rows), effect ?? null],
  );
  const changed = LAST_COUNTS.has(consumer)
    ? "excluded.version"
    : "greatest(stream_newest.version, excluded.version)";
  await tx.query(
    `insert into stream_newest (consumer, key, version)
     select $1, key, max(version) from jsonb_to_recordset($2) as r (key text, version int) group by key
     on conflict (consumer, key) do update set version = ${changed}`,
    [consumer, JSON.stringify(rows.filter(({ late }) => late === 0))],
  );
  if (isBroken(consumer, events)) {
    const { rowCount } = await tx.query("select 1 from stream_mended");
    if (rowCount === 0) throw broken();
  }
  if (error) throw error;
}

/** @param {string} consumer @param {readonly ReceivedEvent<Stored>[]} events */
function isBroken(consumer, events) {
  return consumer === "frail" && events.some(({ data }) => data.version % BROKEN_EVERY === 0);
}

function broken() {
  return Object.assign(new Error("a bug of the handler"), { name: "Broken" });
}
