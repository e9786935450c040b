import { setTimeout as sleep } from "node:timers/promises";
import type { FaultPoint } from "../../library/src/fault-point.js";
import { FAULT_POINTS } from "../../library/src/fault-point.js";
import type { Chance } from "../chance.js";
import { createChance } from "../chance.js";
import { ABSENT, STORED_POINTS } from "../crash/fault-table.js";
import type { SqliteOutboxDatabase } from "../crash/sqlite-outbox-database.js";
import { createSqliteOutboxDatabase } from "../crash/sqlite-outbox-database.js";
import { Flow } from "./flow.js";
import { FlowLoad } from "./flow-load.js";
import { Landing } from "./landing.js";
import type { Bench, Part } from "./part.js";
import { tellEnd } from "./tell.js";

const KILLS = { ci: 300, long: 20_000 };
// Databases side by side: while one host starts, the others work.
const SITES = 3;
/** A checker holds a little of each event: it gets a new history after so many kills. */
const KILLS_PER_SECTION = 500;
const LONGEST_LIFE_MS = 150;
const LONGEST_WAIT_MS = 400;
// Work is under way at every kill even so; more would only take the time of further kills.
const PAUSE_MS = 80;
const DRAIN_MS = 60_000;
// Fewer would be a campaign that knows some moments only.
const LEAST_POINTS = 20;

/** Points that a host comes to which receives, publishes and delivers; the others belong to another kind of host. */
const POINTS: readonly FaultPoint[] = FAULT_POINTS.filter(
  (point) =>
    ABSENT.sqlite[point] === undefined && !point.startsWith("dedup.") && !STORED_POINTS.includes(point),
);

export const sqliteKills: Part = {
  name: "sqlite kills",
  about: "kill -9 of a host on SQLite that receives, publishes and delivers, and of the receiver behind it",
  budgetS: { ci: 100, long: 6000 },
  async run(bench) {
    const kills = KILLS[bench.depth];
    const tally = new KillTally(bench, kills);
    const share = Math.ceil(kills / SITES);
    await Promise.all(Array.from({ length: SITES }, (_, site) => killSite(bench, tally, { site, share })));
    tally.tell();
  },
};

interface Site {
  readonly site: number;
  readonly share: number;
}

async function killSite(bench: Bench, tally: KillTally, { site, share }: Site): Promise<void> {
  for (let done = 0, section = 0; done < share; section++) {
    const kills = Math.min(KILLS_PER_SECTION, share - done);
    const scope = `s${site}x${section}`;
    await killSection(bench, tally, {
      scope,
      kills,
      chance: createChance(bench.seed + site + SITES * section),
    });
    done += kills;
  }
}

interface Section {
  readonly scope: string;
  readonly kills: number;
  readonly chance: Chance;
}

async function killSection(bench: Bench, tally: KillTally, { scope, kills, chance }: Section): Promise<void> {
  const database = await createSqliteOutboxDatabase();
  const landing = await Landing.open();
  const flow = await Flow.open({ database, hosts: 1, landing });
  try {
    await flow.start();
    const load = new FlowLoad(flow, { scope, chance, pauseMs: PAUSE_MS });
    for (let kill = 0; kill < kills; kill++) {
      await load.published(chance.below(8));
      if (chance.below(5) === 0) await tally.killLanding(flow);
      await tally.kill(flow, load, chance);
    }
    await load.stop();
    await flow.settle(DRAIN_MS);
    await tellEnd(bench, flow, `${kills} kills, seed ${bench.seed}, site ${scope}`);
    tally.expectKilled(flow, kills);
    bench.expect(`the host's file is whole (${scope})`, isWhole(database));
  } finally {
    await flow.close();
    await landing.close();
    await database.close();
  }
}

function isWhole({ db }: SqliteOutboxDatabase): boolean {
  return db.pragma("integrity_check", { simple: true }) === "ok";
}

/** Kills, and knows what each of them has met. */
class KillTally {
  readonly #bench: Bench;
  readonly #wanted: number;
  readonly #points = new Map<string, number>();
  /** Points in the order in which they are tried; one that nobody comes to is not tried for ever. */
  #order: FaultPoint[] = [];
  readonly #missed = new Map<FaultPoint, number>();
  #kills = 0;
  #atWork = 0;
  #landings = 0;

  constructor(bench: Bench, wanted: number) {
    this.#bench = bench;
    this.#wanted = wanted;
  }

  async kill(flow: Flow, load: FlowLoad, chance: Chance): Promise<void> {
    const [supervisor] = flow.hosts;
    const host = await supervisor?.host();
    if (host === undefined) return;
    const point = chance.below(2) === 0 ? this.#nextPoint(chance) : undefined;
    if (point === undefined) await sleep(chance.below(LONGEST_LIFE_MS));
    else {
      await host.arm({ point, nth: 1 + chance.below(4) }).catch(() => undefined);
      await Promise.race([host.ended, sleep(LONGEST_WAIT_MS)]);
    }
    const busy = load.underWay + flow.server.underWay > 0;
    const end = await host.kill();
    this.#kills++;
    if (busy || end.point !== undefined) this.#atWork++;
    if (end.point !== undefined) this.#points.set(end.point, (this.#points.get(end.point) ?? 0) + 1);
    else if (point !== undefined) this.#missed.set(point, (this.#missed.get(point) ?? 0) + 1);
    this.#bench.progress(
      `${this.#kills} of ${this.#wanted} kills, ${this.#atWork} of them at work, ${this.#points.size} points`,
    );
  }

  async killLanding(flow: Flow): Promise<void> {
    await flow.landing?.supervisor.kill();
    flow.fault("kill of the receiver");
    this.#landings++;
  }

  expectKilled(flow: Flow, kills: number): void {
    const killed = flow.ends.filter(({ signal }) => signal === "SIGKILL").length;
    this.#bench.expect(
      `every end of a host was a kill: ${killed} of ${flow.ends.length}`,
      killed === flow.ends.length && killed >= kills,
    );
  }

  tell(): void {
    const bench = this.#bench;
    bench.count("kills of the host", this.#kills);
    bench.count("kills that met work under way", this.#atWork);
    bench.count("kills of the receiver", this.#landings);
    bench.count("fault points hit", this.#points.size);
    bench.note([...this.#points].map(([point, times]) => `${point} ${times}`).join(", "));
    bench.expect(`${this.#wanted} kills`, this.#kills >= this.#wanted);
    bench.expect("most kills met work under way", this.#atWork > this.#kills / 2);
    bench.expect(`at least ${LEAST_POINTS} fault points were hit`, this.#points.size >= LEAST_POINTS);
  }

  #nextPoint(chance: Chance): FaultPoint | undefined {
    if (this.#order.length === 0) this.#order = POINTS.filter((point) => this.#isWorthATry(point));
    const [point] = this.#order.splice(chance.below(this.#order.length || 1), 1);
    return point;
  }

  // Few misses say little: the rarer points need more time than a busy machine gives them.
  #isWorthATry(point: FaultPoint): boolean {
    return (this.#missed.get(point) ?? 0) <= 2 + 2 * (this.#points.get(point) ?? 0);
  }
}
