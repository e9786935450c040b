import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { Pool } from "pg";
import { postgresStore } from "posthorn/postgres";
import { sqliteStore } from "posthorn/sqlite";
import { createSeal } from "../../server/src/secrets/seal.js";
import type { Chance } from "../chance.js";
import { createChance } from "../chance.js";
import type { OutboxDatabase } from "../crash/outbox-database.js";
import { openPostgresOutboxDatabase } from "../crash/postgres-outbox-reader.js";
import { openSqliteOutboxDatabase } from "../crash/sqlite-outbox-database.js";
import { installBoth } from "../packed/install.js";
import { packBoth } from "../packed/pack.js";
import { startPostgres } from "../services/postgres-server.js";
import type { PostgresServer } from "../services/postgres-server.js";
import { Flow } from "./flow.js";
import { Landing } from "./landing.js";
import type { Bench, Part } from "./part.js";
import { createDatabase } from "./postgres-crash.js";
import { KEY_HEADER, PROVIDER_SECRET, ProviderLoad } from "./server-kills-load.js";
import { Gateway } from "./server-kills-process.js";
import { tellEnd } from "./tell.js";

const KILLS = { ci: 50, long: 1000 };
/** A checker holds a little of each event: it gets a new history after so many kills. */
const KILLS_PER_SECTION = 250;
const LONGEST_LIFE_MS = 250;
const DRAIN_MS = 90_000;
const MASTER_KEY = Buffer.alloc(32, 7).toString("base64");

export const serverKills: Part = {
  name: "server kills",
  about:
    "kill -9 of the packed server under signed load, on SQLite and on Postgres, behind it a receiver with an inbox",
  budgetS: { ci: 110, long: 2000 },
  async run(bench) {
    const home = mkdtempSync(join(tmpdir(), "posthorn-server-kills-"));
    let postgres: PostgresServer | undefined;
    try {
      await installBoth(home, await packBoth());
      postgres = await startPostgres({ durable: true });
      const tally = new Tally(bench, 2 * KILLS[bench.depth]);
      // Side by side: while one server starts, the other works.
      await Promise.all([
        killSite(bench, tally, (scope) => sqliteSite(home, scope)),
        killSite(bench, tally, postgresSite(home, postgres)),
      ]);
      tally.tell();
    } finally {
      await postgres?.stop();
      rmSync(home, { recursive: true, force: true });
    }
  },
};

/** A gateway and its database, as somebody else sees it. */
interface Site {
  readonly scope: string;
  readonly gateway: Gateway;
  readonly database: OutboxDatabase;
  /** Whether the database's own check finds nothing. */
  isWhole(): boolean;
  close(): Promise<void>;
}

const seal = createSeal(Buffer.from(MASTER_KEY, "base64"));

async function sqliteSite(installed: string, section: string): Promise<Site> {
  const dataDir = mkdtempSync(join(installed, "data-"));
  const gateway = await Gateway.open({ installed, dataDir, masterKey: MASTER_KEY });
  const db = new Database(join(dataDir, "posthorn.db"));
  const reader = await openSqliteOutboxDatabase(db, () => db.close());
  return {
    scope: `sqlite${section}`,
    gateway,
    database: { ...reader, outbox: sqliteStore({ db, seal }) },
    isWhole: () => db.pragma("integrity_check", { simple: true }) === "ok",
    close: () => reader.close(),
  };
}

function postgresSite(installed: string, server: PostgresServer): (section: string) => Promise<Site> {
  return async (section) => {
    const scope = `postgres${section}`;
    const url = await createDatabase(server, scope);
    const dataDir = mkdtempSync(join(installed, "data-"));
    const gateway = await Gateway.open({ installed, dataDir, database: url, masterKey: MASTER_KEY });
    const pool = new Pool({ connectionString: url, max: 1 });
    const reader = await openPostgresOutboxDatabase(url);
    return {
      scope,
      gateway,
      database: { ...reader, outbox: postgresStore({ client: pool, seal }) },
      isWhole: () => true,
      close: async () => {
        await pool.end();
        await reader.close();
      },
    };
  };
}

async function killSite(bench: Bench, tally: Tally, open: (section: string) => Promise<Site>): Promise<void> {
  const kills = KILLS[bench.depth];
  for (let done = 0; done < kills; done += KILLS_PER_SECTION) {
    const site = await open(String(done));
    try {
      await killSection(bench, tally, { ...site, kills: Math.min(KILLS_PER_SECTION, kills - done) });
    } finally {
      await site.gateway.kill();
      await site.close();
    }
  }
}

async function killSection(
  bench: Bench,
  tally: Tally,
  site: Site & { readonly kills: number },
): Promise<void> {
  const { scope, gateway, database, kills } = site;
  const chance = createChance(bench.seed + scope.length);
  const landing = await Landing.open();
  // Its own hosts stay at home: the gateway is the one that publishes and delivers.
  const flow = await Flow.open({ database, landing, hosts: 0 });
  try {
    await flow.start();
    await gateway.client.sources.create({
      name: "shop",
      scheme: "standard_webhooks",
      secrets: [PROVIDER_SECRET],
      key: { header: KEY_HEADER },
    });
    const load = new ProviderLoad({ gateway, history: flow.history, chance, scope });
    for (let kill = 0; kill < kills; kill++) await tally.kill({ flow, load, gateway, chance });
    await load.stop();
    await flow.settle(DRAIN_MS);
    bench.expect(`a clean stop ends with 0 (${scope})`, await gateway.stop());
    await tellSection(bench, flow, { load, site });
  } finally {
    await flow.close();
    await landing.close();
  }
}

async function tellSection(
  bench: Bench,
  flow: Flow,
  { load, site }: { readonly load: ProviderLoad; readonly site: Site },
): Promise<void> {
  const { scope, gateway } = site;
  const report = await tellEnd(bench, flow, `${scope}, seed ${bench.seed}`);
  const stored = report.counts.get("event_row.ok") ?? 0;
  const landed = flow.landing?.effects() ?? 0;
  bench.count("events answered with success", load.answered);
  bench.count("requests called duplicates", load.duplicates);
  bench.expect(`every event was applied, and once: ${landed} of ${stored} (${scope})`, landed === stored);
  bench.expect(
    `every answered event is stored: ${load.answered} of ${stored} (${scope})`,
    load.answered === stored,
  );
  bench.expect(`the database is whole (${scope})`, site.isWhole());
  bench.expect(
    `no server ended by itself (${scope})${gateway.faults.join("\n")}`,
    gateway.faults.length === 0,
  );
}

interface Victim {
  readonly flow: Flow;
  readonly load: ProviderLoad;
  readonly gateway: Gateway;
  readonly chance: Chance;
}

/** Kills, and knows what each kill has met. */
class Tally {
  readonly #bench: Bench;
  readonly #wanted: number;
  readonly #startedAt = performance.now();
  #kills = 0;
  #atWork = 0;

  constructor(bench: Bench, wanted: number) {
    this.#bench = bench;
    this.#wanted = wanted;
  }

  async kill({ flow, load, gateway, chance }: Victim): Promise<void> {
    await load.posted(chance.below(12));
    await sleep(chance.below(LONGEST_LIFE_MS));
    if (load.underWay + flow.server.underWay > 0) this.#atWork++;
    await gateway.kill();
    flow.fault("kill of the server");
    this.#kills++;
    this.#bench.progress(`${this.#kills} of ${this.#wanted} kills, ${this.#atWork} of them at work`);
    await gateway.start();
  }

  tell(): void {
    const perKillMs = (performance.now() - this.#startedAt) / Math.max(this.#kills, 1);
    this.#bench.count("kills of the server", this.#kills);
    this.#bench.count("kills that met work under way", this.#atWork);
    this.#bench.note(`${(perKillMs / 1000).toFixed(2)} s for each kill`);
    this.#bench.expect(`${this.#wanted} kills`, this.#kills >= this.#wanted);
    this.#bench.expect("most kills met work under way", this.#atWork > this.#kills / 2);
  }
}
