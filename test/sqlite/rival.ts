// A process of its own that works on the database file it is given, as a second worker of the host would.
// Started by two-processes.test.ts; prints one line of JSON with what it was told.
import Database from "better-sqlite3";
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isPosthornError } from "posthorn";
import { migrate, sqliteDedup, sqliteStore } from "posthorn/sqlite";

const [path = "", task = ""] = process.argv.slice(2);
const EVENTS = 300;
const db = new Database(path);
const ids = Array.from({ length: EVENTS }, (_, n) => `evt_${n}`).toSorted(() => Math.random() - 0.5);

/** Says which ids this process was first with. */
async function recordAll(): Promise<object> {
  const adapter = sqliteDedup({ db, waitMs: 20_000 });
  const told = await Promise.all(ids.map(async (id) => ({ id, ...(await adapter.record(id, 60)) })));
  return { first: told.filter(({ duplicate }) => !duplicate).map(({ id }) => id) };
}

/** Says which events this process has applied, in groups of changing size. */
async function acceptAll(): Promise<object> {
  await migrate(db);
  const store = sqliteStore({ db });
  const effect = db.prepare("insert into effect (mark) values (?)");
  const kinds: Record<string, string[]> = {};
  const accept = async (id: string): Promise<void> => {
    const body = Buffer.from(id);
    const bodyHash = createHash("sha256").update(body).digest();
    const rest = { idPreview: undefined, type: "t", eventAt: undefined, headers: "{}", windowS: 60 };
    const { kind } = await store.accept(
      { tenant: "default", source: "stripe", id, body, bodyHash, ...rest },
      () => {
        effect.run(id);
        return { outcome: "success" };
      },
      { acquireMs: 20_000, signal: new AbortController().signal },
    );
    (kinds[kind] ??= []).push(id);
  };
  for (let from = 0; from < ids.length;) {
    const size = 1 + Math.floor(Math.random() * 40);
    await Promise.all(ids.slice(from, from + size).map(accept));
    from += size;
  }
  return kinds;
}

/** Takes the write lock again and again, longer than any handle waits for it, until it is told to stop. */
async function storm(): Promise<object> {
  let locks = 0;
  const stop = new AbortController();
  process.stdin.once("data", () => stop.abort());
  db.pragma("busy_timeout = 0");
  while (!stop.signal.aborted) {
    try {
      db.exec("begin immediate");
      locks++;
      await sleep(15);
      db.exec("commit");
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes("locked")) throw error;
      if (db.inTransaction) db.exec("rollback");
    }
    await sleep(2);
  }
  return { locks };
}

async function main(): Promise<void> {
  console.log("ready");
  const tasks: Readonly<Record<string, () => Promise<object>>> = { recordAll, acceptAll, storm };
  if (task !== "storm") await new Promise((resolve) => process.stdin.once("data", resolve));
  try {
    console.log(JSON.stringify(await tasks[task]?.()));
  } catch (error) {
    console.log(
      JSON.stringify({
        error: isPosthornError(error) ? error.code : `${String(error)} ${(error as Error).stack}`,
      }),
    );
  }
  process.exit();
}

void main();
