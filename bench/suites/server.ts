import type { Limit, Plan, Suite } from "../suite.js";
import { startReceivingServer } from "./delivery/receiving-server.js";
import { openBench } from "./inbox/durable-postgres.js";
import { leaveServerCore, noCores } from "./server/cores.js";
import { CpuBill } from "./server/cpu-time.js";
import { startGateway } from "./server/gateway.js";
import { GENERATOR } from "./server/generator.js";
import { postgresHome, sqliteHome } from "./server/homes.js";
import { freshEvents, INGEST, ingestRatios, knownEvents, stateless } from "./server/ingest-cases.js";
import { startBareRoute, startEmptyResponder } from "./server/comparisons.js";

const full: Plan = { rounds: 7, turnMs: 4000, warmupMs: 4000 };

/** What the goals compare: duplicates, deliveries and slow sockets take minutes. */
const quick: Plan = {
  rounds: 5,
  turnMs: 1000,
  warmupMs: 1000,
  cases: [INGEST.empty, INGEST.bare, INGEST.postgres, INGEST.sqlite],
};

const bills = {
  bare: new CpuBill(),
  postgres: new CpuBill(),
  sqlite: new CpuBill(),
  others: new CpuBill(),
};

function cpuOf(name: string, bill: CpuBill): Limit {
  return { name: `${name}, CPU µs per request`, measure: () => bill.microsecondsPerRequest };
}

export const suite: Suite = {
  plans: { full, quick },
  ratios: [...ingestRatios],
  limits: [
    cpuOf(INGEST.bare, bills.bare),
    cpuOf(INGEST.postgres, bills.postgres),
    cpuOf(INGEST.sqlite, bills.sqlite),
  ],
  unavailable: noCores,
  async cases(context) {
    leaveServerCore(context);
    context.say(`generator: ${GENERATOR}`);
    const { turnMs } = context.quick ? quick : full;
    const turn = { turnMs };
    const { pool } = await openBench(context);
    const { url: endpoint } = await startReceivingServer(context);
    const postgres = await postgresHome(context, pool, { schema: "ingest", endpoint });
    const sqlite = await sqliteHome(context, endpoint);
    const onPostgres = await startGateway(context, postgres.home, ["ingest"]);
    const onSqlite = await startGateway(context, sqlite.home, ["ingest"]);
    return [
      stateless(
        context,
        { name: INGEST.empty, server: await startEmptyResponder(context), bill: bills.others },
        turn,
      ),
      stateless(
        context,
        { name: INGEST.bare, server: await startBareRoute(context), bill: bills.bare },
        turn,
      ),
      freshEvents(
        context,
        { name: INGEST.postgres, gateway: onPostgres, empty: postgres.empty, bill: bills.postgres },
        turn,
      ),
      freshEvents(
        context,
        { name: INGEST.sqlite, gateway: onSqlite, empty: sqlite.empty, bill: bills.sqlite },
        turn,
      ),
      knownEvents(context, { name: INGEST.postgresAgain, gateway: onPostgres, bill: bills.others }, turn),
      knownEvents(context, { name: INGEST.sqliteAgain, gateway: onSqlite, bill: bills.others }, turn),
    ];
  },
};
