// npx tsx scripts/retention.ts [--database sqlite|postgres] [--minutes 10] [--foreign]: whether the disk stops filling. Half of
// the rate that was measured first, with everything kept for a minute; --foreign leaves a transaction of somebody else
// open for two of the minutes. It needs the build.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import Database from "better-sqlite3";
import type { Pool } from "pg";
import { createRetention } from "posthorn/operator";
import type { Store } from "posthorn/operator";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { postgresStore } from "posthorn/postgres";
import type { SuiteContext } from "../bench/suite.js";
import { dispatcherOf, openOutbox, publication } from "../bench/suites/delivery/bench-outbox.js";
import type { BenchOutbox } from "../bench/suites/delivery/bench-outbox.js";
import { startReceivingServer } from "../bench/suites/delivery/receiving-server.js";
import type { ReceivingServer } from "../bench/suites/delivery/receiving-server.js";
import { openBench } from "../bench/suites/inbox/durable-postgres.js";
import { alignColumns } from "../bench/table.js";

const MOST_GROWTH = 1.3;
const KEYS = 1000;
const WINDOW_MS = 60_000;
const MEASURED_MS = 10_000;
const SAMPLE_MS = 5000;
const MIB = 1024 ** 2;

interface Subject {
  readonly store: Store<never>;
  readonly outbox: BenchOutbox;
  readonly server: ReceivingServer;
  readonly bytes: () => Promise<number>;
  readonly pool: Pool | undefined;
}

interface Sample {
  readonly minute: number;
  readonly bytes: number;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      database: { type: "string", default: "sqlite" },
      minutes: { type: "string", default: "10" },
      foreign: { type: "boolean", default: false },
    },
  });
  const closing: (() => void | Promise<void>)[] = [];
  const context: SuiteContext = {
    quick: false,
    say: (text) => console.error(text),
    onClose: (step) => void closing.push(step),
  };
  try {
    const subject = values.database === "postgres" ? await onPostgres(context) : await onSqlite(context);
    const minutes = Number(values.minutes);
    const full = await fullRate(subject);
    console.log(
      `${values.database}: ${Math.round(full)} events a second at full rate; half of it from now on`,
    );
    const samples = await endure(subject, { minutes, perSecond: full / 2, foreign: values.foreign });
    return judge(samples, minutes) ? 0 : 1;
  } finally {
    for (const step of closing.toReversed()) await step();
  }
}

async function onSqlite(context: SuiteContext): Promise<Subject> {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-retention-"));
  context.onClose(() => rmSync(folder, { recursive: true, force: true }));
  const db = new Database(join(folder, "posthorn.db"));
  context.onClose(() => void db.close());
  // As the gateway makes its own file.
  db.pragma("auto_vacuum = incremental");
  await migrate(db);
  const store = sqliteStore({ db }) as unknown as Store<never>;
  const server = await startReceivingServer(context);
  const outbox = await openOutbox(store, server, { empty: () => undefined, settleDown: () => undefined });
  const bytes = (): Promise<number> =>
    Promise.resolve(
      Number(db.pragma("page_count", { simple: true })) * Number(db.pragma("page_size", { simple: true })),
    );
  return { store, outbox, server, bytes, pool: undefined };
}

async function onPostgres(context: SuiteContext): Promise<Subject> {
  const { pool } = await openBench(context);
  const store = postgresStore({ client: pool }) as unknown as Store<never>;
  const server = await startReceivingServer(context);
  const outbox = await openOutbox(store, server, { empty: () => undefined, settleDown: () => undefined });
  const bytes = async (): Promise<number> => {
    const { rows } = await pool.query<{ size: string }>(
      "select pg_database_size(current_database()) as size",
    );
    return Number(rows[0]?.size);
  };
  return { store, outbox, server, bytes, pool };
}

/** Publishes as fast as it is delivered, with a backlog that keeps every slot busy. */
async function fullRate({ store, outbox, server }: Subject): Promise<number> {
  const dispatcher = dispatcherOf(store);
  await dispatcher.start();
  const before = await server.received();
  const startedAt = performance.now();
  for (let sent = 0; performance.now() - startedAt < MEASURED_MS;) {
    const backlog = sent - ((await server.received()) - before);
    if (backlog > 2000) await sleep(5);
    else {
      await outbox.sender.publish(Array.from({ length: 200 }, (_, index) => publication(sent + index, KEYS)));
      sent += 200;
    }
  }
  const rate = ((await server.received()) - before) / ((performance.now() - startedAt) / 1000);
  await dispatcher.stop();
  return rate;
}

interface Load {
  readonly minutes: number;
  readonly perSecond: number;
  readonly foreign: boolean;
}

/** Publishes at a rate while everything is delivered and removed, and looks at the size. */
async function endure(subject: Subject, { minutes, perSecond, foreign }: Load): Promise<Sample[]> {
  const { store, outbox, pool } = subject;
  const windows = {
    eventsMs: WINDOW_MS,
    attemptsMs: WINDOW_MS,
    answersMs: WINDOW_MS,
    cancelledMs: WINDOW_MS,
    deadMs: WINDOW_MS,
    setAsideMs: WINDOW_MS,
    idsMs: WINDOW_MS,
  };
  const retention = createRetention({ store, windows, rowsPerSecond: 100_000, observer: console.error });
  const ended = new AbortController();
  const dispatcher = dispatcherOf(store);
  await dispatcher.start();
  const removing = retention.keepRemoved({ signal: ended.signal });
  const samples: Sample[] = [];
  const startedAt = performance.now();
  const minuteNow = (): number => Math.floor((performance.now() - startedAt) / 60_000) + 1;
  const other = foreign && pool ? openForeign(pool, ended.signal) : Promise.resolve();
  let sent = 0;
  for (let lookAt = SAMPLE_MS; minuteNow() <= minutes;) {
    const elapsedMs = performance.now() - startedAt;
    const due = Math.floor((elapsedMs / 1000) * perSecond) - sent;
    if (due > 0) {
      const first = sent;
      sent += due;
      await outbox.sender.publish(
        Array.from({ length: due }, (_, index) => publication(first + index, KEYS)),
      );
    }
    if (elapsedMs >= lookAt) {
      samples.push({ minute: minuteNow(), bytes: await subject.bytes() });
      lookAt += SAMPLE_MS;
    }
    await sleep(20);
  }
  ended.abort();
  await Promise.all([removing, other, dispatcher.stop()]);
  const { kinds } = await retention.census();
  const events = kinds.find(({ kind }) => kind === "events");
  console.log(
    `published ${sent}, removed rows ${events?.removed}, oldest event ${Math.round((events?.oldestMs ?? 0) / 1000)} s`,
  );
  return samples;
}

const FOREIGN_FROM_MS = 120_000;
const FOREIGN_FOR_MS = 120_000;

/** What a forgotten session does: no row that was removed since can be used again. */
async function openForeign(pool: Pool, signal: AbortSignal): Promise<void> {
  await sleep(FOREIGN_FROM_MS, signal);
  if (signal.aborted) return;
  const client = await pool.connect();
  try {
    await client.query("begin isolation level repeatable read; select count(*) from posthorn.consumer");
    await sleep(FOREIGN_FOR_MS, signal);
    await client.query("rollback");
  } finally {
    client.release();
  }
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Prints the table, and says whether the last two minutes are as large as those of the middle. */
function judge(samples: readonly Sample[], minutes: number): boolean {
  const meanOf = (...wanted: readonly number[]): number => {
    const found = samples.filter(({ minute }) => wanted.includes(minute)).map(({ bytes }) => bytes);
    return found.reduce((sum, bytes) => sum + bytes, 0) / found.length;
  };
  const rows = Array.from({ length: minutes }, (_, index) => [
    String(index + 1),
    (meanOf(index + 1) / MIB).toFixed(1),
  ]);
  console.log(alignColumns([["minute", "mean MiB"], ...rows], "rr").join("\n"));
  const middle = Math.max(1, Math.floor(minutes / 2));
  const growth = meanOf(minutes - 1, minutes) / meanOf(middle, middle + 1);
  console.log(
    `minutes ${minutes - 1} and ${minutes} / ${middle} and ${middle + 1}: ${growth.toFixed(3)}, goal <= ${MOST_GROWTH}, ` +
      (growth <= MOST_GROWTH ? "met" : "NOT MET"),
  );
  return growth <= MOST_GROWTH;
}

process.exitCode = await main();
