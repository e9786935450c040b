import { setTimeout as sleep } from "node:timers/promises";
import type { Case, Ratio, SuiteContext } from "../../suite.js";
import { orderedIds } from "../inbox/event-ids.js";
import { SOURCE } from "../inbox/signed-events.js";
import type { Gateway } from "./gateway.js";
import { replay } from "./generator.js";
import type { OpenGateway } from "./homes.js";
import { HostileClients } from "./hostile-clients.js";
import { RequestFiles } from "./request-file.js";

export const SLOW = {
  alone: "1,000 healthy requests a second",
  beside: "the same, beside 2,000 slow sockets",
} as const;

export const slowRatios: readonly Ratio[] = [
  {
    name: "p99 beside slow sockets / alone",
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

/** Healthy traffic at a fixed rate, with and without clients that want to stop it. */
export function slowSocketCases(context: SuiteContext, open: OpenGateway): Case[] {
  let gateway: Gateway;
  let empty: () => Promise<void>;
  const files = new RequestFiles(context, `/in/${SOURCE}`);
  const nextId = orderedIds();
  const hostile = new HostileClients();
  const healthy = async (record: (ms: number, count?: number) => void): Promise<number> => {
    const file = files.sign(((TURN_MS + LEAD_IN_MS) / 1000) * PER_SECOND + CONNECTIONS, nextId);
    const asked = { url: gateway.url, file, connections: CONNECTIONS, forMs: TURN_MS, repeats: false };
    const { requests, latencies } = await replay({ ...asked, perSecond: PER_SECOND });
    for (const [ms, count] of latencies) record(ms, count);
    return requests;
  };
  return [
    {
      kind: "work",
      group: "slow sockets",
      name: SLOW.alone,
      async setup() {
        ({ gateway, empty } = await open());
      },
      beforeTurn: () => empty(),
      run: healthy,
    },
    {
      kind: "work",
      group: "slow sockets",
      name: SLOW.beside,
      async beforeTurn() {
        await empty();
        await hostile.start(gateway.url, `/in/${SOURCE}`);
        await sleep(SETTLE_MS);
      },
      run: healthy,
      async afterTurn() {
        await hostile.stop();
        await sleep(SETTLE_MS);
      },
    },
  ];
}
