import type { Case, Limit, Plan, Suite, SuiteContext } from "../suite.js";
import { startReceivingServer } from "./delivery/receiving-server.js";
import type { ReceivingServer } from "./delivery/receiving-server.js";
import { openBench } from "./inbox/durable-postgres.js";
import { startBareRoute, startEmptyResponder } from "./server/comparisons.js";
import { leaveServerCore, noCores } from "./server/cores.js";
import { CpuBill } from "./server/cpu-time.js";
import { endToEnd, WHOLE, wholeRatios } from "./server/end-to-end-cases.js";
import { startGateway } from "./server/gateway.js";
import { GENERATOR } from "./server/generator.js";
import type { Furnished, OpenGateway } from "./server/homes.js";
import { postgresHome, sqliteHome } from "./server/homes.js";
import { freshEvents, INGEST, ingestRatios, knownEvents, stateless } from "./server/ingest-cases.js";

// The turns to the endpoint end when the last event has arrived.
const full: Plan = { rounds: 7, turnMs: 4000, warmupMs: 4000 };

/** What the goals of ingest compare: duplicates and deliveries take minutes, and whether the generator has headroom a full run tells. */
const quick: Plan = {
  rounds: 5,
  turnMs: 1000,
  warmupMs: 2000,
  cases: [INGEST.bare, INGEST.postgres, INGEST.sqlite],
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
  ratios: [...ingestRatios, ...wholeRatios],
  limits: [
    cpuOf(INGEST.bare, bills.bare),
    cpuOf(INGEST.postgres, bills.postgres),
    cpuOf(INGEST.sqlite, bills.sqlite),
  ],
  unavailable: noCores,
  async cases(context) {
    leaveServerCore(context);
    context.say(`generator: ${GENERATOR}`);
    const { pool } = await openBench(context);
    const receiver = await startReceivingServer(context);
    const { url: endpoint } = receiver;
    const homes: Homes = {
      postgres: (schema) => postgresHome(context, pool, { schema, endpoint }),
      sqlite: () => sqliteHome(context, endpoint),
    };
    return [...(await ingestCases(context, homes)), ...laterCases(context, homes, receiver)];
  },
};

interface Homes {
  readonly postgres: (schema: string) => Promise<Furnished>;
  readonly sqlite: () => Promise<Furnished>;
}

const INGEST_ALONE = ["ingest"];

async function ingestCases(context: SuiteContext, homes: Homes): Promise<Case[]> {
  const turn = context.quick ? quick : full;
  const postgres = await homes.postgres("ingest");
  const sqlite = await homes.sqlite();
  const onPostgres = await startGateway(context, postgres.home, INGEST_ALONE);
  const onSqlite = await startGateway(context, sqlite.home, INGEST_ALONE);
  const empty = { name: INGEST.empty, server: await startEmptyResponder(context), bill: bills.others };
  const bare = { name: INGEST.bare, server: await startBareRoute(context), bill: bills.bare };
  return [
    stateless(context, empty, turn),
    stateless(context, bare, turn),
    freshEvents(
      context,
      { name: INGEST.postgres, server: onPostgres, empty: postgres.empty, bill: bills.postgres },
      turn,
    ),
    freshEvents(
      context,
      { name: INGEST.sqlite, server: onSqlite, empty: sqlite.empty, bill: bills.sqlite },
      turn,
    ),
    knownEvents(context, { name: INGEST.postgresAgain, server: onPostgres, bill: bills.others }, turn),
    knownEvents(context, { name: INGEST.sqliteAgain, server: onSqlite, bill: bills.others }, turn),
  ];
}

/** Started only where the plan has their cases. */
function laterCases(context: SuiteContext, homes: Homes, receiver: ReceivingServer): Case[] {
  const turn = context.quick ? quick : full;
  const opened =
    (home: () => Promise<Furnished>, roles: readonly string[]): OpenGateway =>
    async () => {
      const furnished = await home();
      return { ...furnished, gateway: await startGateway(context, furnished.home, roles) };
    };
  const whole = (name: string, home: () => Promise<Furnished>): Case =>
    endToEnd(context, { name, receiver, open: opened(home, ["ingest", "dispatch"]) }, turn);
  return [whole(WHOLE.postgres, () => homes.postgres("whole")), whole(WHOLE.sqlite, homes.sqlite)];
}
