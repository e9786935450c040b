// npx tsx scripts/endurance.ts [--minutes 10] [--database sqlite|postgres] [--roles ingest,dispatch,api]: whether the
// server's memory stays what it was, under as much load as it takes. It needs the build, wrk and two cores.
import { parseArgs } from "node:util";
import { readFileSync } from "node:fs";
import { median } from "../bench/median.js";
import { alignColumns } from "../bench/table.js";
import { startReceivingServer } from "../bench/suites/delivery/receiving-server.js";
import { openBench } from "../bench/suites/inbox/durable-postgres.js";
import { leaveServerCore, noCores } from "../bench/suites/server/cores.js";
import { startGateway } from "../bench/suites/server/gateway.js";
import type { Gateway } from "../bench/suites/server/gateway.js";
import { GENERATOR } from "../bench/suites/server/generator.js";
import { postgresHome, sqliteHome } from "../bench/suites/server/homes.js";
import { Supply } from "../bench/suites/server/supply.js";
import type { SuiteContext } from "../bench/suite.js";

const MOST_MB = 250;
const MOST_GROWTH = 1.1;
// By then everything is compiled and every cache is full; in a run that is too short for it, the first minute has to do.
const COMPARED_MINUTE = 3;
const SAMPLE_MS = 1000;
// A signature is good for five minutes; requests are signed anew for each of these.
const SEGMENT_MS = 10_000;

interface Sample {
  readonly minute: number;
  readonly residentMb: number;
}

interface Minute {
  readonly number: number;
  readonly medianMb: number;
  readonly mostMb: number;
  readonly requests: number;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "10" },
      database: { type: "string", default: "sqlite" },
      roles: { type: "string", default: "ingest,dispatch,api" },
    },
  });
  const cannot = noCores();
  if (cannot !== undefined) {
    console.error(`endurance: ${cannot}`);
    return 2;
  }
  const closing: (() => void | Promise<void>)[] = [];
  const context: SuiteContext = {
    quick: false,
    say: (text) => console.error(text),
    onClose: (step) => void closing.push(step),
  };
  try {
    const gateway = await openGateway(context, values.database, values.roles.split(","));
    console.log(
      `${values.minutes} minutes, ${values.database}, roles ${values.roles}, generator: ${GENERATOR}`,
    );
    const minutes = await endure(context, gateway, Number(values.minutes));
    return judge(minutes) ? 0 : 1;
  } finally {
    for (const step of closing.toReversed()) await step();
  }
}

async function openGateway(
  context: SuiteContext,
  database: string,
  roles: readonly string[],
): Promise<Gateway> {
  leaveServerCore(context);
  const { url: endpoint } = await startReceivingServer(context);
  const { home } =
    database === "postgres"
      ? await postgresHome(context, (await openBench(context)).pool, { schema: "endurance", endpoint })
      : await sqliteHome(context, endpoint);
  return startGateway(context, home, roles);
}

/** Sends for so many minutes, and looks at the memory each second. */
async function endure(context: SuiteContext, gateway: Gateway, forMinutes: number): Promise<Minute[]> {
  const startedAt = performance.now();
  const minuteNow = (): number => Math.floor((performance.now() - startedAt) / 60_000) + 1;
  const samples: Sample[] = [];
  const requests = new Map<number, number>();
  const sampling = setInterval(
    () => samples.push({ minute: minuteNow(), residentMb: residentMbOf(gateway.pid) }),
    SAMPLE_MS,
  );
  try {
    const [first, second] = [new Supply(context), new Supply(context)];
    let [ready, next] = [first, second];
    ready.fresh({ turnMs: SEGMENT_MS });
    while (minuteNow() <= forMinutes) {
      const minute = minuteNow();
      const sending = ready.send(gateway, { turnMs: SEGMENT_MS, repeats: false });
      // While the others are sent: without a pause, the server would rest as long as it takes to sign.
      next.fresh({ turnMs: SEGMENT_MS });
      const sent = await sending;
      requests.set(minute, (requests.get(minute) ?? 0) + sent.requests);
      [ready, next] = [next, ready];
    }
  } finally {
    clearInterval(sampling);
  }
  return Array.from({ length: forMinutes }, (_, index) => minuteOf(index + 1, samples, requests));
}

function minuteOf(number: number, samples: readonly Sample[], requests: ReadonlyMap<number, number>): Minute {
  const found = samples.filter(({ minute }) => minute === number).map(({ residentMb }) => residentMb);
  return {
    number,
    medianMb: median(found),
    mostMb: Math.max(...found),
    requests: requests.get(number) ?? 0,
  };
}

function residentMbOf(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
  return (pages * 4096) / 1e6;
}

/** Prints the table, and says whether both goals are met. */
function judge(minutes: readonly Minute[]): boolean {
  const rows = minutes.map(({ number, medianMb, mostMb, requests }) => [
    String(number),
    medianMb.toFixed(1),
    mostMb.toFixed(1),
    Math.round(requests / 60).toLocaleString("en-US"),
  ]);
  const table = alignColumns([["minute", "median MB", "most MB", "requests per second"], ...rows], "rrrr");
  console.log(table.join("\n"));
  const compared = minutes[minutes.length > COMPARED_MINUTE ? COMPARED_MINUTE - 1 : 0];
  const growth = (minutes.at(-1)?.medianMb ?? Number.NaN) / (compared?.medianMb ?? Number.NaN);
  const mostMb = Math.max(...minutes.map((minute) => minute.mostMb));
  console.log(
    `last minute / minute ${compared?.number}: ${growth.toFixed(3)}, goal <= ${MOST_GROWTH}, ${met(growth <= MOST_GROWTH)}`,
  );
  console.log(`most resident MB: ${mostMb.toFixed(1)}, goal < ${MOST_MB}, ${met(mostMb < MOST_MB)}`);
  return growth <= MOST_GROWTH && mostMb < MOST_MB;
}

function met(isMet: boolean): string {
  return isMet ? "met" : "NOT MET";
}

process.exitCode = await main();
