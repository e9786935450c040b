// A process of its own that publishes to the database file it is given and delivers what is in it, beside others that
// do the same. Started by outbox-two-processes.test.ts; prints one line of JSON with what it has delivered.
import Database from "better-sqlite3";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { sqliteStore } from "posthorn/sqlite";
import { claimRequest, deliverAll, eventOf } from "./outbox-events.js";

const [path = "", name = ""] = process.argv.slice(2);
const EVENTS = 200;
const KEYS = 7;
const IDLE_ROUNDS = 20;

async function main(): Promise<void> {
  const outbox = sqliteStore({ db: new Database(path), waitMs: 20_000 });
  console.log("ready");
  await once(process.stdin, "data");
  const publishing = Promise.all(
    Array.from({ length: EVENTS }, async (_, n) => {
      await sleep(Math.random() * 200);
      await outbox.append([eventOf(`${name}_${n}`, { key: `key_${n % KEYS}` })]);
    }),
  );
  const delivered: string[] = [];
  const run = { maxEvents: 4, maxBytes: 1_000_000 };
  for (let idle = 0; idle < IDLE_ROUNDS;) {
    const some = await deliverAll(outbox, claimRequest({ worker: name, limit: 3, run }));
    delivered.push(...some);
    idle = some.length === 0 ? idle + 1 : 0;
    await sleep(10);
  }
  await publishing;
  delivered.push(...(await deliverAll(outbox, claimRequest({ worker: name, run }))));
  console.log(JSON.stringify(delivered));
  process.exit();
}

void main();
