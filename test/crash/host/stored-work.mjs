// What the handlers of a worker do: a row for each event without a unique key, and the newest version beside it, so that
// what was applied twice, torn or out of order can be seen.
import { setTimeout as sleep } from "node:timers/promises";

/** @import Database from "better-sqlite3" */
/** @import { PoolClient } from "pg" */
/** @import { ReceivedEvent } from "posthorn" */
/** @import { HostOptions } from "./work.mjs" */

/** @typedef {{ key: string, place: number, version: number }} Stored */
/** @typedef {readonly ReceivedEvent<Stored>[]} Events */

const SLOW_ONE_IN = 20;
const SLOW_MS = 20;

/** @param {HostOptions} options */
export function applyingTo({ store, failsOneIn = 50 }) {
  const apply = store === "sqlite" ? appliedInTurn : appliedByStatements;
  /** @param {string} consumer @param {Events} events @param {{ tx?: unknown }} context */
  const handle = async (consumer, events, { tx }) => {
    // Some are held for a while, so that kills meet them.
    if (oneIn(SLOW_ONE_IN)) await sleep(SLOW_MS);
    return apply(consumer, events, { tx, fails: oneIn(failsOneIn) });
  };
  return {
    /** @param {ReceivedEvent<Stored>} event @param {{ tx?: unknown }} context */
    single: (event, context) => handle("single", [event], context),
    /** @param {Events} events @param {{ tx?: unknown }} context */
    many: (events, context) => handle("many", events, context),
  };
}

/** @param {number} times */
function oneIn(times) {
  return Math.random() * times < 1;
}

/** @typedef {{ tx: unknown, fails: boolean }} How */

/** @param {string} consumer @param {Events} events @param {How} how */
function appliedInTurn(consumer, events, { fails }) {
  return (/** @type {Database.Database} */ tx) => {
    const insert = tx.prepare(
      "insert into stream_applied (consumer, key, place, version) values (?, ?, ?, ?)",
    );
    const update = tx.prepare(
      `insert into stream_newest (consumer, key, version) values (?, ?, ?)
       on conflict (consumer, key) do update set version = max(version, excluded.version)`,
    );
    for (const { data } of events) {
      insert.run(consumer, data.key, data.place, data.version);
      update.run(consumer, data.key, data.version);
    }
    if (fails) throw new Error("after its writes");
  };
}

/** @param {string} consumer @param {Events} events @param {How} how */
async function appliedByStatements(consumer, events, { tx, fails }) {
  const client = /** @type {PoolClient} */ (tx);
  const rows = JSON.stringify(events.map(({ data }) => data));
  await client.query(
    `insert into stream_applied (consumer, key, place, version)
     select $1, key, place, version from rows from
       (jsonb_to_recordset($2) as (key text, place int, version int)) with ordinality as r (key, place, version, nth)
     order by nth`,
    [consumer, rows],
  );
  await client.query(
    `insert into stream_newest (consumer, key, version)
     select $1, key, max(version) from jsonb_to_recordset($2) as r (key text, place int, version int) group by key
     on conflict (consumer, key) do update set version = greatest(stream_newest.version, excluded.version)`,
    [consumer, rows],
  );
  if (fails) throw new Error("after its writes");
}
