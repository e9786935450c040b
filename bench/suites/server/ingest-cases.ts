import type { Case, Ratio, SuiteContext } from "../../suite.js";
import type { CpuBill } from "./cpu-time.js";
import type { Gateway, Verdicts } from "./gateway.js";
import type { Replayed } from "./generator.js";
import type { MeasuredProcess } from "./measured-process.js";
import { CONNECTIONS, Supply } from "./supply.js";
import type { TurnLength } from "./supply.js";

export const INGEST = {
  empty: "empty responder",
  bare: "bare Fastify route, verified",
  postgres: "ingest, postgres",
  sqlite: "ingest, sqlite",
  postgresAgain: "ingest of duplicates, postgres",
  sqliteAgain: "ingest of duplicates, sqlite",
} as const;

export const ingestRatios: readonly Ratio[] = [
  { name: "ingest on postgres / bare route", of: INGEST.postgres, to: INGEST.bare, goal: ">= 0.5" },
  { name: "ingest on sqlite / bare route", of: INGEST.sqlite, to: INGEST.bare, goal: ">= 0.5" },
  // Below 2, the bare route may be as fast as the generator and not as fast as it can be: all else is then capped.
  { name: "headroom: empty responder / bare route", of: INGEST.empty, to: INGEST.bare, goal: ">= 2" },
  { name: "duplicates on postgres / bare route", of: INGEST.postgresAgain, to: INGEST.bare },
  { name: "duplicates on sqlite / bare route", of: INGEST.sqliteAgain, to: INGEST.bare },
];

const REPEATED = 5000;

export interface Target<Server extends MeasuredProcess = MeasuredProcess> {
  readonly name: string;
  readonly server: Server;
  readonly bill: CpuBill;
}

/** A server that keeps nothing: any request may come again. */
export function stateless(context: SuiteContext, target: Target, { turnMs }: TurnLength): Case {
  const supply = new Supply(context);
  return {
    kind: "work",
    group: "ingest",
    name: target.name,
    beforeTurn: () => supply.repeated(REPEATED),
    warmedUp: () => target.bill.clear(),
    run: (record) => timed(target, () => supply.send(target.server, { turnMs, repeats: true }), record),
  };
}

/** Events that a gateway has not seen before. */
export function freshEvents(
  context: SuiteContext,
  target: Target<Gateway> & { readonly empty: () => Promise<void> },
  { turnMs }: TurnLength,
): Case {
  const supply = new Supply(context);
  return verdictCase(target, "stored", {
    async prepare() {
      await target.empty();
      supply.fresh({ turnMs });
    },
    send: () => supply.send(target.server, { turnMs, repeats: false }),
  });
}

const STORED_WITHIN_MS = 1000;
const LONGEST_STORING_MS = 30_000;

/** Events that a gateway has stored before the turn. */
export function knownEvents(context: SuiteContext, target: Target<Gateway>, { turnMs }: TurnLength): Case {
  const supply = new Supply(context);
  return verdictCase(target, "duplicate", {
    async prepare() {
      supply.repeated(REPEATED);
      await storeAll(target.server, supply);
    },
    send: () => supply.send(target.server, { turnMs, repeats: true }),
  });
}

/** Sends until each of them is stored: one that is not would be the slower kind in a turn of duplicates. */
async function storeAll(server: Gateway, supply: Supply): Promise<void> {
  const stored = async (): Promise<number> => (await server.verdicts())["stored"] ?? 0;
  const before = await stored();
  for (let turnMs = STORED_WITHIN_MS; turnMs < LONGEST_STORING_MS; turnMs *= 2) {
    await supply.send(server, { turnMs, repeats: true });
    if ((await stored()) >= before + REPEATED) return;
  }
  throw new Error(`${REPEATED} events were not stored within ${LONGEST_STORING_MS} ms.`);
}

function verdictCase(
  target: Target<Gateway>,
  verdict: "stored" | "duplicate",
  { prepare, send }: { readonly prepare: () => Promise<void>; readonly send: () => Promise<Replayed> },
): Case {
  const { name, server } = target;
  let before: Verdicts = {};
  let sent = 0;
  return {
    kind: "work",
    group: "ingest",
    name,
    async beforeTurn() {
      await prepare();
      before = await server.verdicts();
    },
    warmedUp: () => target.bill.clear(),
    async run(record) {
      const done = await timed(target, send, record);
      sent = done.operations;
      return done;
    },
    async afterTurn() {
      expectAll(verdict, { before, after: await server.verdicts(), sent });
    },
  };
}

async function timed(
  { server, bill }: Target,
  send: () => Promise<Replayed>,
  record: (ms: number, count?: number) => void,
): Promise<{ operations: number; elapsedMs: number }> {
  const cpuBefore = server.cpuMs();
  const { requests, elapsedMs, latencies } = await send();
  bill.add(server.cpuMs() - cpuBefore, requests);
  for (const [ms, count] of latencies) record(ms, count);
  return { operations: requests, elapsedMs };
}

interface Told {
  readonly before: Verdicts;
  readonly after: Verdicts;
  readonly sent: number;
}

/** Throws unless every request of a turn came to the same verdict: one that stores nothing is the fastest of all. */
function expectAll(verdict: string, { before, after, sent }: Told): void {
  const found = (each: string): number => (after[each] ?? 0) - (before[each] ?? 0);
  const others = Object.keys(after).filter((each) => each !== verdict && found(each) > 0);
  if (others.length > 0)
    throw new Error(`${found(others[0] ?? "")} events were ${others[0]}; expected ${verdict}.`);
  // Those under way when the turn was over are done, and not counted.
  const count = found(verdict);
  if (count < sent || count > sent + CONNECTIONS)
    throw new Error(`${count} events were ${verdict}; expected ${sent}, as many as were answered.`);
}
