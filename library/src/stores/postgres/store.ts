import type { OptionNames } from "../../known-options.js";
import type { Observer } from "../../observer.js";
import type { Store } from "../../operator/store.js";
import { EndpointSecrets } from "../../outbox/endpoint-secrets.js";
import type { SecretSeal } from "../../outbox/secret-seal.js";
import type { StoreCapabilities } from "../../store-capabilities.js";
import { checkStoreOptions } from "../../store-options.js";
import { Wake } from "../../work/wake.js";
import { clientKind, hostSession, poolOf, poolSize } from "./client/client.js";
import type { Session } from "./client/database.js";
import type { PostgresPool } from "./client/drivers.js";
import type { PostgresDurability } from "./client/durability.js";
import { DurabilityCheck } from "./client/durability.js";
import { checkedMs, DEFAULT_SCHEMA, quotedName } from "./client/identifiers.js";
import { OwnTransactions } from "./client/own-transaction.js";
import { createInbox } from "./inbox/inbox.js";
import { createNewest } from "./inbox/newest.js";
import { createLanes } from "./lanes/lanes.js";
import { Sequencer } from "./lanes/sequence.js";
import { createOperator } from "./operator/operator.js";
import { createOutbox } from "./outbox/outbox.js";
import { createCursors } from "./repair/cursors.js";
import { createRetention } from "./retention/retention.js";
import { tablesIn } from "./schema/tables.js";

/** What a store in Postgres is made of. */
export interface PostgresStoreOptions<Tx> {
  /** A Pool of `pg`, the `sql` of `postgres`, or an ORM's client by `posthorn/orm`. Handlers get its transactions, and events are published in them. */
  readonly client: PostgresPool<Tx>;
  /** Where `migrate` made the tables. @default "posthorn" */
  readonly schema?: string;
  /** False for poolers that cannot keep prepared statements. @default true */
  readonly prepare?: boolean;
  /** How long a statement of the store's own waits for a connection, before `store_unavailable` is thrown. @default 5,000 */
  readonly acquireMs?: number;
  /** What is done about settings that let an acknowledged event vanish: told, or refused. @default "as_is" */
  readonly durability?: PostgresDurability;
  /**
   * Closes the secrets of endpoints in the database. Those that stand there without a seal are still read. An endpoint
   * whose secrets cannot be opened reads as disabled and is told to the observer; its events wait, and other processes
   * that can open them go on.
   */
  readonly seal?: SecretSeal;
  readonly observer?: Observer;
}

/** The inbox and the outbox of one schema: receiver, sender, dispatcher and operator take the same one. */
export type PostgresStore<Tx> = Store<Tx, "asynchronous">;

const OPTIONS: OptionNames<PostgresStoreOptions<never>> = {
  client: true,
  schema: true,
  prepare: true,
  acquireMs: true,
  durability: true,
  seal: true,
  observer: true,
};

const CAPABILITIES: StoreCapabilities = Object.freeze({
  sharesHostTransaction: true,
  survivesPowerLoss: true,
  multiProcess: true,
  clock: "store",
});

/**
 * Keeps the inbox and the outbox in Postgres: handlers run and events are published in the host's own transactions, and
 * any number of processes share the work.
 *
 * @example
 * await migrate(pool);
 * const store = postgresStore({ client: pool });
 */
export function postgresStore<Tx>(options: PostgresStoreOptions<Tx>): PostgresStore<Tx> {
  checkStoreOptions("postgresStore", options, OPTIONS);
  const { client, prepare = true, durability = "as_is", seal, observer } = options;
  const acquireMs = checkedMs("acquireMs", options.acquireMs ?? 5000);
  const known = clientKind(client);
  const pool = poolOf<Tx>(known, prepare);
  const tables = tablesIn(quotedName("schema", options.schema ?? DEFAULT_SCHEMA));
  const check = new DurabilityCheck(pool, durability, observer);
  const wake = new Wake();
  const own = { transactions: new OwnTransactions(pool, acquireMs), tables, observer };
  const shared = {
    ...own,
    sessionOf: (tx: unknown): Promise<Session> => hostSession(tx, prepare, known),
    secrets: new EndpointSecrets(seal, observer),
    sequencer: new Sequencer(own),
    committed: (): void => wake.ring("committed"),
  };
  return {
    capabilities: CAPABILITIES,
    transactions: "asynchronous",
    connections: poolSize(known),
    wake,
    ...createInbox<Tx>({ pool, tables, check, acquireMs, observer }),
    ...createNewest<Tx>(shared),
    ...createOutbox<Tx>(shared),
    ...createLanes<Tx>({ ...shared, pool }),
    ...createOperator(shared),
    ...createRetention(own),
    ...createCursors({ pool, tables, acquireMs }),
  };
}
