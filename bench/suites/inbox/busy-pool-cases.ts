import { createReceiver } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import type { Case, LoadCase, Ratio } from "../../suite.js";
import type { Bench } from "./durable-postgres.js";
import { orderedIds } from "./event-ids.js";
import { DuplicateStorm, SLOW_TYPE, SlowHandler } from "./duplicate-storm.js";
import { createOrders, payOrder } from "./receiver-cases.js";
import { expectVerdict, shopVerifier, SignedSupply, SOURCE, TYPE } from "./signed-events.js";

export const BUSY = {
  baseline: "pool of 10, other events alone",
  duplicates: "pool of 10, beside 200 duplicates of a slow one",
} as const;

export const busyRatios: readonly Ratio[] = [
  {
    name: "p99 of other events beside 200 duplicates / alone",
    of: BUSY.duplicates,
    to: BUSY.baseline,
    figure: "p99Ms",
    goal: "<= 2",
  },
];

const CONNECTIONS = 10;
const CALLERS = 16;

/** Events of others while one handler takes 10 s and its sender does not wait for the answer. */
export async function busyPoolCases({ pool, poolOf }: Bench): Promise<Case[]> {
  await createOrders(pool);
  const slow = new SlowHandler();
  const receiver = createReceiver({
    store: postgresStore({ client: poolOf(CONNECTIONS) }),
    sources: { [SOURCE]: shopVerifier() },
    handlers: {
      [TYPE]: (event, { tx }) => payOrder(tx, event.id),
      [SLOW_TYPE]: () => slow.run(),
    },
  });
  const supply = new SignedSupply(orderedIds());
  const load = (name: string): LoadCase => ({
    kind: "load",
    group: "busy pool",
    name,
    callers: CALLERS,
    call: async () => expectVerdict(await receiver.receive(SOURCE, supply.take()), "applied"),
    async beforeTurn() {
      await pool.query("truncate posthorn.inbox, paid_order");
      supply.refill();
    },
  });
  return [load(BUSY.baseline), besideDuplicates(load(BUSY.duplicates), new DuplicateStorm(receiver, slow))];
}

/** The same load, with the slow event and its duplicates under way from before the turn until after it. */
function besideDuplicates(load: LoadCase, storm: DuplicateStorm): LoadCase {
  const nextId = orderedIds();
  return {
    ...load,
    async beforeTurn() {
      await load.beforeTurn?.();
      await storm.begin(`slow_${nextId()}`);
    },
    afterTurn: () => storm.end(),
  };
}
