import { chownSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import type { HistoryRecord } from "posthorn/testing";
import { createChance } from "../chance.js";
import type { OutboxDatabase } from "../crash/outbox-database.js";
import { openPostgresOutboxDatabase } from "../crash/postgres-outbox-reader.js";
import { createSqliteOutboxDatabase, openSqliteOutboxDatabase } from "../crash/sqlite-outbox-database.js";
import { startPostgres } from "../services/postgres-server.js";
import { Flow } from "./flow.js";
import { FlowLoad } from "./flow-load.js";
import { Landing } from "./landing.js";
import type { Bench, Part } from "./part.js";
import { asOwner, createDatabase, postmasterOf } from "./postgres-crash.js";
import type { SmallDisk } from "./small-disk.js";
import { createSmallDisk } from "./small-disk.js";
import { tellEnd } from "./tell.js";

const TIMES = { ci: 2, long: 40 };
const SPARE_BYTES = 400_000;
const SPARE_PAGES = 60;
const LEAST_REFUSED = 20;
const PATIENCE_MS = 60_000;

export const fullDisk: Part = {
  name: "full disk",
  about: "a disk that fills up under load, and has room again",
  budgetS: { ci: 40, long: 800 },
  async run(bench) {
    await fullSqlite(bench);
    await fullPostgres(bench);
  },
};

/** How a disk is made full, and has room again. */
interface Room {
  fill(flow: Flow): Promise<void>;
  make(flow: Flow): Promise<void>;
}

function roomOn(disk: SmallDisk): Room {
  return {
    fill: () => Promise.resolve(disk.fill(SPARE_BYTES)),
    make: () => Promise.resolve(disk.makeRoom()),
  };
}

async function fullSqlite(bench: Bench): Promise<void> {
  const disk = createSmallDisk(24);
  if (typeof disk === "string") {
    bench.note(`sqlite: by max_page_count, because ${disk}`);
    const database = await createSqliteOutboxDatabase();
    await fillAgainAndAgain(bench, database, pagesOf(database.db));
    return;
  }
  try {
    bench.note("sqlite: on a tmpfs of 24 MB");
    const db = new Database(join(disk.folder, "full.db"));
    const database = await openSqliteOutboxDatabase(db, () => void db.close());
    await fillAgainAndAgain(bench, database, roomOn(disk));
  } finally {
    disk.remove();
  }
}

/** The limit is the host's connection's own. */
function pagesOf(db: Database.Database): Room {
  return {
    fill: (flow) => limitPages(flow, Number(db.pragma("page_count", { simple: true })) + SPARE_PAGES),
    make: (flow) => limitPages(flow, 1_000_000),
  };
}

async function limitPages(flow: Flow, most: number): Promise<void> {
  for (const supervisor of flow.hosts) await (await supervisor.host()).post("/pages", { most });
}

async function fullPostgres(bench: Bench): Promise<void> {
  const disk = createSmallDisk(64);
  if (typeof disk === "string") return bench.skip("a full disk under Postgres", disk);
  const server = await startPostgres({ durable: true });
  try {
    bench.note("postgres: a tablespace on a tmpfs of 64 MB");
    const { uid, gid } = statSync(`/proc/${await postmasterOf(server)}`);
    const place = join(disk.folder, "tables");
    mkdirSync(place);
    for (const path of [disk.folder, place]) chownSync(path, uid, gid);
    await asOwner(server, "postgres", (client) =>
      client.query(`create tablespace small location '${place}'`),
    );
    const url = await createDatabase(server, "filled", "tablespace small");
    await fillAgainAndAgain(bench, await openPostgresOutboxDatabase(url), roomOn(disk));
  } finally {
    await server.stop();
    disk.remove();
  }
}

const FULL: Readonly<Record<OutboxDatabase["name"], RegExp>> = {
  sqlite: /SQLITE_FULL|disk is full/,
  postgres: /53100|No space left/,
};

async function fillAgainAndAgain(bench: Bench, database: OutboxDatabase, room: Room): Promise<void> {
  const { name } = database;
  const chance = createChance(bench.seed);
  const landing = await Landing.open();
  const refusals: string[] = [];
  const onRecord = ({ op, fields }: HistoryRecord): void => {
    if (op === "publish" && "why" in fields) refusals.push(fields.why);
  };
  const flow = await Flow.open({ database, hosts: 1, landing, onRecord });
  const told = (): number => refusals.filter((why) => FULL[name].test(decodeURIComponent(why))).length;
  // A receiver tells a provider no more than that it should come again.
  const refused = (): number => told() + refusals.filter((why) => why.startsWith("503 ")).length;
  try {
    await flow.start();
    const load = new FlowLoad(flow, { scope: `full${name}`, chance, pauseMs: 10 });
    let reads = 0;
    for (let time = 1; time <= TIMES[bench.depth]; time++) {
      await load.published(50);
      await room.fill(flow);
      flow.fault("disk full");
      const before = refused();
      const endsAt = performance.now() + PATIENCE_MS;
      while (refused() < before + LEAST_REFUSED && performance.now() < endsAt) await sleep(20);
      reads += await database.pending().then(() => 1);
      bench.expect(`${name}: nothing is taken that does not fit`, refused() >= before + LEAST_REFUSED);
      await room.make(flow);
      flow.fault("room again");
      await load.published(50);
      bench.progress(
        `${name}: full ${time} of ${TIMES[bench.depth]} times, ${refused()} publications refused`,
      );
    }
    await load.stop();
    await flow.settle(PATIENCE_MS);
    await tellEnd(bench, flow, `full disk on ${name}, seed ${bench.seed}`);
    bench.count(`${name}: times full`, TIMES[bench.depth]);
    bench.count(`${name}: publications refused, and told that the disk is full`, told());
    bench.count(`${name}: all that was refused`, refused());
    bench.expect(`${name}: publishers are told that the disk is full`, told() > 0);
    bench.count(`${name}: reads while it was full`, reads);
    bench.expect(`no host ended by itself (${name})`, flow.ends.length === 0);
    const words = new Set(refusals.map(decodeURIComponent).filter((why) => FULL[name].test(why)));
    for (const why of [...words].slice(0, 3)) bench.note(`${name} was refused with: ${why}`);
  } finally {
    await flow.close();
    await landing.close();
    await database.close();
  }
}
