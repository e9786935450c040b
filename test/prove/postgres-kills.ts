import { setTimeout as sleep } from "node:timers/promises";
import { createFaultProxy } from "posthorn/testing";
import type { FaultProxy, ProxyFaults } from "posthorn/testing";
import type { Chance } from "../chance.js";
import { createChance } from "../chance.js";
import { openPostgresOutboxDatabase } from "../crash/postgres-outbox-reader.js";
import { startPostgres } from "../services/postgres-server.js";
import type { PostgresServer } from "../services/postgres-server.js";
import { Flow } from "./flow.js";
import type { FlowOptions } from "./flow.js";
import { FlowLoad } from "./flow-load.js";
import { Landing } from "./landing.js";
import type { Bench, Part } from "./part.js";
import { createDatabase, killServer, terminateSessions } from "./postgres-crash.js";
import { tellEnd } from "./tell.js";

const KILLS = { ci: 20, long: 1000 };
const NET_FAULTS = { ci: 40, long: 1000 };
// While one server recovers, the other works.
const SERVERS = { ci: 1, long: 2 };
/** A checker holds a little of each event: it gets a new history after so many. */
const KILLS_PER_SECTION = 100;
const NET_FAULTS_PER_SECTION = 250;
const LONGEST_DOWN_MS = 300;
const DRAIN_MS = 90_000;

export const postgresKills: Part = {
  name: "postgres kills",
  about: "kill -9 of the Postgres server and all of its processes, ended sessions and a faulty network",
  budgetS: { ci: 110, long: 3600 },
  async run(bench) {
    const servers = SERVERS[bench.depth];
    const ends = await Promise.allSettled(
      Array.from({ length: servers }, (_, nth) => breakServer(bench, { nth, servers })),
    );
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  },
};

/** Every so many-th section of the campaign, on a server of its own. */
async function breakServer(
  bench: Bench,
  { nth, servers }: { readonly nth: number; readonly servers: number },
): Promise<void> {
  const server = await startPostgres({ durable: true });
  try {
    const kills = KILLS[bench.depth];
    for (let done = nth * KILLS_PER_SECTION; done < kills; done += servers * KILLS_PER_SECTION)
      await killSection(bench, server, { done, kills: Math.min(KILLS_PER_SECTION, kills - done) });
    const faults = NET_FAULTS[bench.depth];
    for (let done = nth * NET_FAULTS_PER_SECTION; done < faults; done += servers * NET_FAULTS_PER_SECTION)
      await netSection(bench, server, { done, faults: Math.min(NET_FAULTS_PER_SECTION, faults - done) });
  } finally {
    await server.stop();
  }
}

interface Ground {
  readonly flow: Flow;
  readonly load: FlowLoad;
}

/** Two hosts on a database of their own, under load until `work` is done; then everything must be there. */
async function underLoad(
  bench: Bench,
  options: FlowOptions & { readonly scope: string; readonly chance: Chance },
  work: (ground: Ground) => Promise<void>,
): Promise<void> {
  const { scope, chance } = options;
  const flow = await Flow.open(options);
  try {
    await flow.start();
    const load = new FlowLoad(flow, { scope, chance });
    await work({ flow, load });
    await load.stop();
    await flow.settle(DRAIN_MS);
    await tellEnd(bench, flow, `${scope}, seed ${bench.seed}`);
    bench.expect(`no host ended by itself (${scope})`, flow.ends.length === 0);
  } finally {
    await flow.close();
    await options.landing?.close();
    await options.database.close();
  }
}

async function killSection(
  bench: Bench,
  server: PostgresServer,
  { done, kills }: { readonly done: number; readonly kills: number },
): Promise<void> {
  const scope = `kills${done}`;
  const chance = createChance(bench.seed + done);
  const database = await openPostgresOutboxDatabase(await createDatabase(server, scope));
  const landing = await Landing.open();
  await underLoad(bench, { database, landing, hosts: 2, scope, chance }, async ({ flow, load }) => {
    let atWork = 0;
    let sessions = 0;
    for (let kill = 1; kill <= kills; kill++) {
      await load.published(10 + chance.below(20));
      if (chance.below(2) === 0) sessions += await terminateSessions(server, 1 + chance.below(3));
      flow.fault("sessions ended");
      await load.published(chance.below(20));
      if (load.underWay + flow.server.underWay > 0) atWork++;
      await killServer(server);
      flow.fault("server killed");
      await sleep(chance.below(LONGEST_DOWN_MS));
      await server.start();
      bench.progress(`${scope}: ${kill} of ${kills} kills of the server, ${load.done} publications`);
    }
    await load.published(20);
    bench.count("kills of the server", kills);
    bench.count("kills that met work under way", atWork);
    bench.count("sessions ended", sessions);
    bench.expect("most kills met work under way", atWork > kills / 2);
    bench.expect("sessions were ended", sessions > 0);
  });
}

const NET_KINDS = [
  "cut",
  "cut",
  "slow",
  "black_hole",
  "reset_request",
  "reset_answer",
  "truncate",
  "half_close",
  "lost_commit",
  "lost_commit",
] as const;
type NetKind = (typeof NET_KINDS)[number];

async function netSection(
  bench: Bench,
  server: PostgresServer,
  { done, faults }: { readonly done: number; readonly faults: number },
): Promise<void> {
  const scope = `net${done}`;
  const chance = createChance(bench.seed + done + 1);
  const url = new URL(await createDatabase(server, scope));
  const database = await openPostgresOutboxDatabase(url.href);
  const landing = await Landing.open();
  const proxy = await createFaultProxy({ port: server.port });
  url.port = String(proxy.port);
  const host = { database: url.href };
  try {
    await underLoad(bench, { database, landing, host, hosts: 2, scope, chance }, async ({ flow, load }) => {
      let lost = 0;
      for (let fault = 1; fault <= faults; fault++) {
        await load.published(5 + chance.below(10));
        const kind = chance.pick(NET_KINDS);
        flow.fault(`network: ${kind}`);
        if (await netFault(proxy, kind, chance)) lost++;
        proxy.heal();
        bench.count(`network: ${kind}`, 1);
        bench.progress(`${scope}: ${fault} of ${faults} faults of the network`);
      }
      await load.published(20);
      bench.count("answers to a commit that the network lost", lost);
      bench.expect("the network lost answers to commits", lost > 0);
    });
  } finally {
    await proxy.close();
  }
}

/** True when the answer to a commit was lost. */
async function netFault(proxy: FaultProxy, kind: NetKind, chance: Chance): Promise<boolean> {
  const set = async (faults: ProxyFaults, ms: number): Promise<boolean> => {
    proxy.set(faults);
    await sleep(ms);
    return false;
  };
  const bytes = chance.below(4000);
  switch (kind) {
    case "cut":
      proxy.cut();
      return false;
    case "slow":
      return set({ latencyMs: 5 + chance.below(100) }, 300 + chance.below(500));
    case "black_hole":
      return set({ blackHole: true }, 200 + chance.below(1200));
    case "reset_request":
      return set({ resetAfter: { direction: "to_server", bytes } }, 100 + chance.below(200));
    case "reset_answer":
      return set({ resetAfter: { direction: "to_client", bytes } }, 100 + chance.below(200));
    case "truncate":
      return set({ truncateAfter: { direction: "to_client", bytes } }, 100 + chance.below(200));
    case "half_close":
      proxy.halfClose(chance.pick(["to_client", "to_server"]));
      return false;
    case "lost_commit": {
      const lost = proxy.swallowAnswer("commit").then(() => true);
      return Promise.race([lost, sleep(2000).then(() => false)]);
    }
  }
}
