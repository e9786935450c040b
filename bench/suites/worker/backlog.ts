import type { Pool, PoolClient } from "pg";
import { createReceiver } from "posthorn";
import type { Receiver } from "posthorn";
import { migrate, postgresStore } from "posthorn/postgres";
import type { PostgresStore } from "posthorn/postgres";
import { orderedIds } from "../inbox/event-ids.js";
import { expectVerdict, shopVerifier, signedEvent, SOURCE, TYPE } from "../inbox/signed-events.js";

// What receipts and their handling leave behind; consumers stay, as after a restart.
const TABLES = [
  "inbox",
  "event",
  "ingest_name",
  "stage",
  "lane",
  "lane_state",
  "delivery",
  "attempt",
  "loose_delivery",
  "loose_attempt",
  "dead",
];
const AT_ONCE = 500;
const BODY_BYTES = 512;

/** A store-first receiver in a schema of its own, whose events have the key that their body names. */
export interface Backlog {
  readonly store: PostgresStore<PoolClient>;
  readonly receiver: Receiver;
  empty(): Promise<void>;
  /** Stores so many events over so many keys, and gives the database time to look at them. */
  fill(events: number, keys: number): Promise<void>;
}

export async function openBacklog(pool: Pool, schema: string): Promise<Backlog> {
  await migrate(pool, { schema });
  const store = postgresStore({ client: pool, schema });
  const receiver = createReceiver({
    mode: "store_first",
    store,
    sources: { [SOURCE]: { verifier: shopVerifier(), key: { json: "/data/key" } } },
  });
  const nextId = orderedIds();
  const tables = TABLES.map((table) => `${schema}.${table}`).join(", ");
  const empty = async (): Promise<void> => void (await pool.query(`truncate ${tables}`));
  const receiveOne = async (key: string): Promise<void> =>
    expectVerdict(await receiver.receive(SOURCE, signedEvent(nextId(), keyedBody(key))), "stored");
  return {
    store,
    receiver,
    empty,
    async fill(events, keys) {
      await empty();
      for (let done = 0; done < events; done += AT_ONCE) {
        const some = Array.from({ length: Math.min(AT_ONCE, events - done) }, (_, n) => (done + n) % keys);
        await Promise.all(some.map((key) => receiveOne(keyOf(key))));
      }
      while ((await store.sequence()).more);
      await pool.query(`analyze ${tables}`);
    },
  };
}

export function keyOf(number: number): string {
  return `key_${number}`;
}

/** An event of this key, as long as those of the other suites. */
export function keyedBody(key: string): Buffer {
  const event = { type: TYPE, timestamp: new Date().toISOString(), data: { key, note: "" } };
  event.data.note = "x".repeat(BODY_BYTES - JSON.stringify(event).length);
  return Buffer.from(JSON.stringify(event));
}
