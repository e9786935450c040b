import type { Case, Ratio, SuiteContext, WorkCase } from "../../suite.js";
import type { IdSource } from "../inbox/event-ids.js";
import { orderedIds } from "../inbox/event-ids.js";
import { SOURCE } from "../inbox/signed-events.js";
import { CpuBill } from "./cpu-time.js";
import type { Gateway, Verdicts } from "./gateway.js";
import { replay } from "./generator.js";
import type { Replayed } from "./generator.js";
import type { MeasuredProcess } from "./measured-process.js";
import { RequestFiles } from "./request-file.js";
import type { RequestFile } from "./request-file.js";

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
  // Below 2, the bare route may be as fast as the generator and not as fast as it can be.
  { name: "headroom: empty responder / bare route", of: INGEST.empty, to: INGEST.bare, goal: ">= 2" },
  { name: "duplicates on postgres / bare route", of: INGEST.postgresAgain, to: INGEST.bare },
  { name: "duplicates on sqlite / bare route", of: INGEST.sqliteAgain, to: INGEST.bare },
];

/** What a busy gateway has under way at once. */
const CONNECTIONS = 128;
// More than a turn takes on most machines; on faster ones, those before it tell.
const SIGNED_PER_SECOND = 20_000;
const REPEATED = 2000;

export interface Target {
  readonly name: string;
  readonly server: MeasuredProcess;
  readonly bill: CpuBill;
}

export interface TurnLength {
  readonly turnMs: number;
}

/** A server that keeps nothing: any request may come again. */
export function stateless(context: SuiteContext, target: Target, { turnMs }: TurnLength): WorkCase {
  const supply = new Supply(context);
  return {
    kind: "work",
    group: "ingest",
    name: target.name,
    beforeTurn: () => supply.repeated(REPEATED),
    run: (record) => timed(target, () => supply.send(target.server, { turnMs, repeats: true }), record),
  };
}

/** Events that a gateway has not seen before. */
export function freshEvents(
  context: SuiteContext,
  { gateway, empty, ...target }: Omit<Target, "server"> & { gateway: Gateway; empty: () => Promise<void> },
  { turnMs }: TurnLength,
): Case {
  const supply = new Supply(context);
  let before: Verdicts = {};
  let sent = 0;
  return {
    kind: "work",
    group: "ingest",
    name: target.name,
    async beforeTurn() {
      await empty();
      supply.fresh({ turnMs });
      before = await gateway.verdicts();
    },
    async run(record) {
      const done = await timed(
        { ...target, server: gateway },
        () => supply.send(gateway, { turnMs, repeats: false }),
        record,
      );
      sent = done.operations;
      return done;
    },
    async afterTurn() {
      expectAll("stored", { before, after: await gateway.verdicts(), sent, under: CONNECTIONS });
    },
  };
}

/** Events that a gateway has stored before the turn. */
export function knownEvents(
  context: SuiteContext,
  { gateway, ...target }: Omit<Target, "server"> & { gateway: Gateway },
  { turnMs }: TurnLength,
): Case {
  const supply = new Supply(context);
  let before: Verdicts = {};
  let sent = 0;
  return {
    kind: "work",
    group: "ingest",
    name: target.name,
    async beforeTurn() {
      supply.repeated(REPEATED);
      // All of them are stored by this.
      await supply.send(gateway, { turnMs: 1000, repeats: true });
      before = await gateway.verdicts();
    },
    async run(record) {
      const done = await timed(
        { ...target, server: gateway },
        () => supply.send(gateway, { turnMs, repeats: true }),
        record,
      );
      sent = done.operations;
      return done;
    },
    async afterTurn() {
      expectAll("duplicate", { before, after: await gateway.verdicts(), sent, under: CONNECTIONS });
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
  /** Requests that may have been under way when the turn was over: done, and not counted. */
  readonly under: number;
}

/** Throws unless every request of a turn came to the same verdict: one that stores nothing is the fastest of all. */
export function expectAll(verdict: string, { before, after, sent, under }: Told): void {
  for (const [each, count] of Object.entries(after)) {
    const found = count - (before[each] ?? 0);
    const wrong = each === verdict ? found < sent || found > sent + under : found > 0;
    if (wrong) throw new Error(`${found} events were ${each}; expected ${sent} to be ${verdict}.`);
  }
  if (after[verdict] === undefined) throw new Error(`No event was ${verdict}.`);
}

/** The requests of one case. */
class Supply {
  readonly #files: RequestFiles;
  readonly #nextId: IdSource = orderedIds();
  #file: RequestFile | undefined;
  #most = 0;

  constructor(context: SuiteContext) {
    this.#files = new RequestFiles(context, `/in/${SOURCE}`);
  }

  /** At least half as many again as the fastest turn took. */
  fresh({ turnMs }: TurnLength): void {
    const count = Math.max((turnMs * SIGNED_PER_SECOND) / 1000, this.#most * 1.5);
    this.#file = this.#files.sign(Math.ceil(count), this.#nextId);
  }

  repeated(count: number): void {
    this.#file = this.#files.sign(count, this.#nextId);
  }

  async send(
    { url }: MeasuredProcess,
    { turnMs, repeats }: TurnLength & { readonly repeats: boolean },
  ): Promise<Replayed> {
    if (this.#file === undefined) throw new Error("Nothing was signed.");
    const sent = await replay({ url, file: this.#file, connections: CONNECTIONS, forMs: turnMs, repeats });
    this.#most = Math.max(this.#most, sent.requests);
    return sent;
  }
}
