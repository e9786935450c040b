import { setTimeout as sleep } from "node:timers/promises";
import type { Case, Ratio, SuiteContext } from "../../suite.js";
import { orderedIds } from "../inbox/event-ids.js";
import { SOURCE } from "../inbox/signed-events.js";
import type { Gateway } from "./gateway.js";
import { replay } from "./generator.js";
import type { Replayed } from "./generator.js";
import type { OpenGateway } from "./homes.js";
import { HostileClients } from "./hostile-clients.js";
import { RequestFiles } from "./request-file.js";
import type { RequestFile } from "./request-file.js";
import { Supply } from "./supply.js";

export const SLOW = {
  full: "healthy requests, as many as are answered",
  fullBeside: "as many as are answered, beside 2,000 slow sockets",
  alone: "1,000 healthy requests a second",
  beside: "1,000 a second, beside 2,000 slow sockets",
} as const;

export const slowRatios: readonly Ratio[] = [
  {
    name: "p99 beside slow sockets / alone, at full load",
    of: SLOW.fullBeside,
    to: SLOW.full,
    figure: "p99Ms",
    goal: "<= 1.25",
  },
  {
    name: "p99 beside slow sockets / alone, at 1,000 a second",
    of: SLOW.beside,
    to: SLOW.alone,
    figure: "p99Ms",
    goal: "<= 1.25",
  },
];

const TURN_MS = 10_000;
// What the generator sends before it counts, and more.
const LEAD_IN_MS = 2000;
const PER_SECOND = 1000;
const CONNECTIONS = 64;
// What was opened has to be accepted before a turn, and what was closed to be closed on the other side before the next.
const SETTLE_MS = 1000;

type RecordLatency = (ms: number, count?: number) => void;

/** Healthy traffic, as much as is answered and at a fixed rate, with and without clients that want to stop it. */
export function slowSocketCases(context: SuiteContext, open: OpenGateway): Case[] {
  const home = new Home(open);
  const hostile = new HostileClients();
  const alone = (name: string, traffic: Traffic): Case => ({
    kind: "work",
    group: "slow sockets",
    name,
    setup: () => home.open(),
    async beforeTurn() {
      await home.empty();
      traffic.prepare();
    },
    run: (record) => traffic.run(home.gateway, record),
  });
  const beside = (name: string, traffic: Traffic): Case => ({
    ...alone(name, traffic),
    async beforeTurn() {
      await home.empty();
      traffic.prepare();
      await hostile.start(home.gateway.url, `/in/${SOURCE}`);
      await sleep(SETTLE_MS);
    },
    async afterTurn() {
      await hostile.stop();
      await sleep(SETTLE_MS);
    },
  });
  return [
    alone(SLOW.full, fullLoad(context)),
    beside(SLOW.fullBeside, fullLoad(context)),
    alone(SLOW.alone, fixedRate(context)),
    beside(SLOW.beside, fixedRate(context)),
  ];
}

/** The one gateway of all cases, started by the first of them. */
class Home {
  readonly #open: OpenGateway;
  #opened: Awaited<ReturnType<OpenGateway>> | undefined;

  constructor(open: OpenGateway) {
    this.#open = open;
  }

  async open(): Promise<void> {
    this.#opened ??= await this.#open();
  }

  get gateway(): Gateway {
    if (this.#opened === undefined) throw new Error("The gateway is not started.");
    return this.#opened.gateway;
  }

  async empty(): Promise<void> {
    await this.#opened?.empty();
  }
}

interface Traffic {
  /** Signs what a turn takes. */
  prepare(): void;
  run(gateway: Gateway, record: RecordLatency): Promise<{ operations: number; elapsedMs: number }>;
}

function fullLoad(context: SuiteContext): Traffic {
  const supply = new Supply(context);
  return {
    prepare: () => supply.fresh({ turnMs: TURN_MS }),
    run: async (gateway, record) =>
      recorded(await supply.send(gateway, { turnMs: TURN_MS, repeats: false }), record),
  };
}

function fixedRate(context: SuiteContext): Traffic {
  const files = new RequestFiles(context, `/in/${SOURCE}`);
  const nextId = orderedIds();
  let file: RequestFile;
  return {
    prepare() {
      file = files.sign(((TURN_MS + LEAD_IN_MS) / 1000) * PER_SECOND + CONNECTIONS, nextId);
    },
    async run({ url }, record) {
      const asked = { url, file, connections: CONNECTIONS, forMs: TURN_MS, repeats: false };
      return recorded(await replay({ ...asked, perSecond: PER_SECOND }), record);
    },
  };
}

function recorded(
  { requests, elapsedMs, latencies }: Replayed,
  record: RecordLatency,
): { operations: number; elapsedMs: number } {
  for (const [ms, count] of latencies) record(ms, count);
  return { operations: requests, elapsedMs };
}
