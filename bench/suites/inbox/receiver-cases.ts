import { createHash } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import { createReceiver, verifySync } from "posthorn";
import type { Arrival, InboxStore, Receiver } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import type { Case, LoadCase, Ratio, SuiteContext } from "../../suite.js";
import type { Bench } from "./durable-postgres.js";
import { orderedIds } from "./event-ids.js";
import { createCommonTables, commonTransaction } from "./common-pattern.js";
import type { EventRequest } from "./signed-events.js";
import {
  BODY,
  expectVerdict,
  shopVerifier,
  signedEvent,
  SignedSupply,
  SOURCE,
  TYPE,
} from "./signed-events.js";
import { warmReceiver } from "./warm-receiver.js";

export const RECEIVER = {
  receive: "receiver.receive, one insert",
  accept: "store.accept, one insert",
  duplicates: "receiver.receive, duplicates",
  common: "common transaction, one insert",
  endpoint: "verifySync and common transaction, one insert",
} as const;

// The goal is on the transaction, the same work on both sides: the common pattern checks no signature, keeps no body
// and no headers, and looks for no duplicate beforehand. The whole way is compared with an endpoint that verifies too.
export const receiverRatios: readonly Ratio[] = [
  { name: "store.accept / common transaction", of: RECEIVER.accept, to: RECEIVER.common, goal: ">= 1.3" },
  { name: "receiver.receive / verifySync and common", of: RECEIVER.receive, to: RECEIVER.endpoint },
  { name: "receiver.receive / common transaction", of: RECEIVER.receive, to: RECEIVER.common },
  { name: "duplicates / first receipts", of: RECEIVER.duplicates, to: RECEIVER.receive, goal: ">= 3" },
];

const CALLERS = 64;
const KNOWN_PER_CALLER = 16;

/** The host's own work, the same for everybody. */
export async function createOrders(pool: Pool): Promise<void> {
  await pool.query(
    "create table if not exists paid_order (event_id text primary key, amount integer not null)",
  );
}

export async function payOrder(client: PoolClient, eventId: string): Promise<void> {
  await client.query("insert into paid_order (event_id, amount) values ($1, $2)", [eventId, 1999]);
}

/** A receiver whose handler does the host's work. */
export function orderReceiver(store: InboxStore<PoolClient, "asynchronous">): Receiver {
  return createReceiver({
    store,
    sources: { [SOURCE]: shopVerifier() },
    handlers: { [TYPE]: (event, { tx }) => payOrder(tx, event.id) },
  });
}

/** Receiving in a transaction with one insert of the handler. */
export async function receiverCases({ quick }: SuiteContext, { pool }: Bench): Promise<Case[]> {
  await createCommonTables(pool);
  await createOrders(pool);
  await warmReceiver(quick ? "quick" : "full");
  const store = postgresStore({ client: pool });
  const receiver = orderReceiver(store);
  const nextId = orderedIds();
  const supply = new SignedSupply(nextId);
  const load = (name: string, call: (caller: number) => Promise<unknown>): LoadCase => ({
    kind: "load",
    group: "receiver",
    name,
    callers: CALLERS,
    call,
    beforeTurn: () => emptyTables(pool),
  });
  const supplied = (name: string, call: () => Promise<unknown>): LoadCase => ({
    ...load(name, call),
    async beforeTurn() {
      await emptyTables(pool);
      supply.refill();
    },
  });
  const verifier = shopVerifier();
  return [
    supplied(RECEIVER.receive, async () =>
      expectVerdict(await receiver.receive(SOURCE, supply.take()), "applied"),
    ),
    load(RECEIVER.accept, () => {
      const id = nextId();
      return acceptOne(store, id, (tx) => payOrder(tx, id));
    }),
    duplicatesCase(pool, receiver, load),
    load(RECEIVER.common, async () => {
      const id = nextId();
      await commonTransaction(pool, id, (client) => payOrder(client, id));
    }),
    supplied(RECEIVER.endpoint, async () => {
      const { request } = verifySync(verifier, supply.take());
      const { type } = JSON.parse(request.body.toString()) as { type: string };
      if (type !== TYPE) throw new Error(`The event is of type ${type}; expected ${TYPE}.`);
      const id = (request.headers as EventRequest["headers"])["webhook-id"];
      await commonTransaction(pool, id, (client) => payOrder(client, id));
    }),
  ];
}

/** Applies an event without checking a signature or looking for a duplicate first. */
export async function acceptOne(
  store: InboxStore<PoolClient>,
  id: string,
  work: (tx: PoolClient) => Promise<void>,
): Promise<void> {
  const { signal } = new AbortController();
  const acceptance = await store.accept(
    { ...ARRIVAL, id },
    async (tx) => {
      await work(tx);
      return { outcome: "success" };
    },
    { acquireMs: 1000, signal },
  );
  if (acceptance.kind !== "applied") throw new Error(`${id} is new, and came to ${acceptance.kind}.`);
}

const ARRIVAL: Omit<Arrival, "id"> = {
  tenant: "default",
  source: SOURCE,
  idPreview: undefined,
  type: TYPE,
  eventAt: new Date(),
  body: BODY,
  bodyHash: createHash("sha256").update(BODY).digest(),
  headers: JSON.stringify(signedEvent("evt_1").headers),
  windowS: 14 * 24 * 3600,
};

/** Events that were applied before the turn come again; each caller has its own, so that none meets itself under way. */
function duplicatesCase(
  pool: Pool,
  receiver: Receiver,
  load: (name: string, call: (caller: number) => Promise<unknown>) => LoadCase,
): LoadCase {
  const nextId = orderedIds();
  let known: EventRequest[] = [];
  let calls = 0;
  const receive = async (request: EventRequest, verdict: string): Promise<void> =>
    expectVerdict(await receiver.receive(SOURCE, request), verdict);
  return {
    ...load(RECEIVER.duplicates, (caller) => {
      calls += 1;
      const own = caller + CALLERS * (calls % KNOWN_PER_CALLER);
      return receive(known[own] as EventRequest, "duplicate");
    }),
    async beforeTurn() {
      await emptyTables(pool);
      known = Array.from({ length: CALLERS * KNOWN_PER_CALLER }, () => signedEvent(nextId()));
      for (let first = 0; first < known.length; first += CALLERS) {
        await Promise.all(known.slice(first, first + CALLERS).map((each) => receive(each, "applied")));
      }
    },
  };
}

async function emptyTables(pool: Pool): Promise<void> {
  await pool.query("truncate posthorn.inbox, common.webhook_inbox, paid_order");
}
