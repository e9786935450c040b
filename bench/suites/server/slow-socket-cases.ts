import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { whileQuiet } from "../../quiet.js";
import type { Quiet } from "../../quiet.js";
import type { Case, Ratio, SuiteContext, TimedWork } from "../../suite.js";
import { orderedIds } from "../inbox/event-ids.js";
import { SOURCE } from "../inbox/signed-events.js";
import type { Gateway } from "./gateway.js";
import { replay } from "./generator.js";
import type { Replayed } from "./generator.js";
import type { OpenGateway } from "./homes.js";
import { HostileClients } from "./hostile-clients.js";
import { RequestFiles } from "./request-file.js";
import { Supply } from "./supply.js";
import type { TurnLength } from "./supply.js";

export const SLOW = {
  full: "healthy requests, as many as are answered",
  fullBeside: "as many as are answered, beside 2,000 slow sockets",
  alone: "1,000 healthy requests a second",
  beside: "1,000 a second, beside 2,000 slow sockets",
} as const;

// Reports without goals: how much slower the healthy get is what V8 and the machine make of it.
export const slowRatios: readonly Ratio[] = [
  {
    name: "p99 beside slow sockets / alone, at full load",
    of: SLOW.fullBeside,
    to: SLOW.full,
    figure: "p99Ms",
  },
  {
    name: "p99 beside slow sockets / alone, at 1,000 a second",
    of: SLOW.beside,
    to: SLOW.alone,
    figure: "p99Ms",
  },
];

// What the generator sends before it counts, and more.
const LEAD_IN_MS = 11_000;
const PER_SECOND = 1000;
const CONNECTIONS = 64;
// What was opened has to be accepted before a turn, and what was closed to be closed on the other side before the next.
const SETTLE_MS = 1000;
// A turn is ten seconds and the server leaves sixty to a request: slow sockets that are opened over as long are ended one
// by one, as if they had been there for hours, and not all in one turn or all after it.
const OPEN_OVER_TURNS = 6;
// Three pauses of 30 ms in ten seconds would be the p99.
const MOST_STOLEN = 0.005;
// As often, a turn of wrk is taken again; as much longer goes one of the suite's own generator on, to find quiet seconds.
const TRIES = 8;

type RecordLatency = (ms: number, count?: number) => void;

/** Healthy traffic, as much as is answered and at a fixed rate, with and without clients that want to stop it. */
export function slowSocketCases(context: SuiteContext, open: OpenGateway, turn: TurnLength): Case[] {
  const home = new Home(open);
  const hostile = new HostileClients(OPEN_OVER_TURNS * turn.turnMs, (text) => context.say(text));
  const quiet: Quiet = {
    mostStolen: MOST_STOLEN,
    tries: context.quick ? 1 : TRIES,
    say: (text) => context.say(text),
  };
  const measured = async (traffic: Traffic, record: RecordLatency): Promise<TimedWork> => {
    const { requests, elapsedMs, latencies } = await traffic.send(home, quiet);
    for (const [ms, count] of latencies) record(ms, count);
    return { operations: requests, elapsedMs };
  };
  const alone = (name: string, traffic: Traffic): Case => ({
    kind: "work",
    group: "slow sockets",
    name,
    setup: () => home.open(),
    beforeTurn: () => home.empty(),
    run: (record) => measured(traffic, record),
  });
  const beside = (name: string, traffic: Traffic): Case => ({
    ...alone(name, traffic),
    async beforeTurn() {
      await home.empty();
      await hostile.start(home.gateway.url, `/in/${SOURCE}`);
    },
    async afterTurn() {
      await hostile.stop();
      await sleep(SETTLE_MS);
    },
  });
  return [
    alone(SLOW.full, fullLoad(context, turn)),
    beside(SLOW.fullBeside, fullLoad(context, turn)),
    alone(SLOW.alone, fixedRate(context, turn)),
    beside(SLOW.beside, fixedRate(context, turn)),
  ];
}

/** What turns before have left to the disk would be written during the next; those beside slow sockets begin later. */
async function settle(): Promise<void> {
  spawnSync("sync");
  await sleep(SETTLE_MS);
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
  /** Signs what a turn takes, and sends it while the machine is quiet. */
  send(home: Home, quiet: Quiet): Promise<Replayed>;
}

function fullLoad(context: SuiteContext, turn: TurnLength): Traffic {
  const supply = new Supply(context);
  return {
    send: ({ gateway }, quiet) =>
      whileQuiet(async () => {
        supply.fresh(turn);
        await settle();
        return () => supply.send(gateway, { ...turn, repeats: false });
      }, quiet),
  };
}

function fixedRate(context: SuiteContext, { turnMs }: TurnLength): Traffic {
  const files = new RequestFiles(context, `/in/${SOURCE}`);
  const nextId = orderedIds();
  return {
    async send({ gateway: { url } }, { tries, say }) {
      const atMostMs = tries * turnMs;
      const file = files.sign(((atMostMs + LEAD_IN_MS) / 1000) * PER_SECOND + CONNECTIONS, nextId);
      await settle();
      const asked = { file, connections: CONNECTIONS, repeats: false, perSecond: PER_SECOND };
      const sent = await replay({ ...asked, url, forMs: turnMs, atMostMs });
      const { seen = 0, quiet = 0 } = sent.seconds ?? {};
      if (seen * 1000 > turnMs) say(`of ${seen} seconds ${quiet} were quiet`);
      return sent;
    },
  };
}
