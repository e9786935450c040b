import { setTimeout as sleep } from "node:timers/promises";
import type { Case, Ratio, SuiteContext } from "../../suite.js";
import type { ReceivingServer } from "../delivery/receiving-server.js";
import { INGEST } from "./ingest-cases.js";
import { Supply } from "./supply.js";
import type { TurnLength } from "./supply.js";
import type { Gateway } from "./gateway.js";
import type { OpenGateway } from "./homes.js";

export const WHOLE = {
  postgres: "ingest to endpoint, postgres",
  sqlite: "ingest to endpoint, sqlite",
} as const;

export const wholeRatios: readonly Ratio[] = [
  { name: "ingest to endpoint on postgres / bare route", of: WHOLE.postgres, to: INGEST.bare },
  { name: "ingest to endpoint on sqlite / bare route", of: WHOLE.sqlite, to: INGEST.bare },
];

const LOOK_MS = 20;
const LONGEST_MS = 120_000;

/** From the first request to the last arrival at the endpoint; one process takes in and delivers. */
export function endToEnd(
  context: SuiteContext,
  of: {
    readonly name: string;
    readonly receiver: ReceivingServer;
    readonly open: OpenGateway;
  },
  { turnMs }: TurnLength,
): Case {
  const { name, receiver, open } = of;
  const supply = new Supply(context);
  let gateway: Gateway;
  let empty: () => Promise<void>;
  return {
    kind: "work",
    group: "to the endpoint",
    name,
    async setup() {
      ({ gateway, empty } = await open());
    },
    async beforeTurn() {
      await empty();
      supply.fresh({ turnMs });
    },
    async run() {
      const before = await receiver.received();
      const storedBefore = (await gateway.verdicts())["stored"] ?? 0;
      await supply.send(gateway, { turnMs, repeats: false });
      const stored = ((await gateway.verdicts())["stored"] ?? 0) - storedBefore;
      await arrivalOf(receiver, before + stored);
      return stored;
    },
  };
}

async function arrivalOf(receiver: ReceivingServer, count: number): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    const received = await receiver.received();
    if (received === count) return;
    if (received > count)
      throw new Error(`The endpoint received ${received - count} events more than were stored.`);
    if (performance.now() - startedAt > LONGEST_MS)
      throw new Error(`The endpoint still waits for ${count - received} events.`);
    await sleep(LOOK_MS);
  }
}
