import { systemClock } from "../../clock.js";
import type { Clock } from "../../clock.js";
import type { OptionNames } from "../../known-options.js";
import type { Observer } from "../../observer.js";
import type { Store } from "../../operator/store.js";
import { EndpointSecrets } from "../../outbox/endpoint-secrets.js";
import type { SecretSeal } from "../../outbox/secret-seal.js";
import { checkStoreOptions } from "../../store-options.js";
import { Wake } from "../../work/wake.js";
import type { SqliteDatabase } from "./client/client.js";
import { connectionOf } from "./client/connection.js";
import { lostPromises } from "./client/durability.js";
import type { Durability } from "./client/durability.js";
import { HostHandles } from "./client/host-handle.js";
import { checkDurability, checkWaitMs, DEFAULT_WAIT_MS } from "./client/options.js";
import { createInbox } from "./inbox/inbox.js";
import { createNewest } from "./inbox/newest.js";
import { createLanes } from "./lanes/lanes.js";
import { createOperator } from "./operator/operator.js";
import { createOutbox } from "./outbox/outbox.js";
import { createCursors } from "./repair/cursors.js";
import { createRetention } from "./retention/retention.js";
import { OutboxSession } from "./outbox/session.js";

/** What a store in SQLite is made of. */
export interface SqliteStoreOptions<Db extends SqliteDatabase> {
  /** An open handle of better-sqlite3 or node:sqlite; handlers get it as `tx`. */
  readonly db: Db;
  /** How long a call may wait for the write lock; an accept waits as long as the receiver's `acquireMs`. @default 5,000 */
  readonly waitMs?: number;
  /** @default "set" */
  readonly durability?: Durability;
  /** Closes the secrets of endpoints before they are written. @default they are written as they are */
  readonly seal?: SecretSeal;
  readonly clock?: Clock;
  readonly observer?: Observer;
}

/** Inbox and outbox in one SQLite database: receiver, sender, dispatcher and operator take the same store. */
export type SqliteStore<Db extends SqliteDatabase> = Store<Db, "synchronous">;

const NAME = "sqliteStore";
const OPTIONS: OptionNames<SqliteStoreOptions<never>> = {
  db: true,
  waitMs: true,
  durability: true,
  seal: true,
  clock: true,
  observer: true,
};

/**
 * Makes a store in the host's own SQLite database. Call `migrate(db)` first. Handlers have the form
 * `async (event) => (tx) => { … }`: the outer part may await, the inner one writes, in one transaction with the event's
 * row. An event that is published inside of a transaction of the host has its place in its lanes when that commits, and
 * never was there when it rolls back.
 *
 * @example
 * await migrate(db);
 * const store = sqliteStore({ db });
 * const receiver = createReceiver({
 *   store,
 *   sources: { stripe: stripe({ secrets }) },
 *   handlers: {
 *     "invoice.paid": (event) => (tx) => {
 *       tx.prepare("update invoice set paid = 1 where id = ?").run(event.data.id);
 *     },
 *   },
 * });
 * const sender = createSender({ store });
 */
export function sqliteStore<Db extends SqliteDatabase>(options: SqliteStoreOptions<Db>): SqliteStore<Db> {
  checkStoreOptions(NAME, options, OPTIONS);
  const { db, waitMs = DEFAULT_WAIT_MS, durability = "set", clock = systemClock, observer, seal } = options;
  checkWaitMs(NAME, waitMs);
  checkDurability(NAME, durability);
  const connection = connectionOf(db);
  const settings = connection.durability.require(durability, { name: NAME, observer });
  const secrets = new EndpointSecrets(seal, observer);
  const session = new OutboxSession({ connection, clock, waitMs, observer, secrets });
  const wake = new Wake();
  const handles = new HostHandles(connection.client);
  return {
    transactions: "synchronous",
    connections: undefined,
    capabilities: Object.freeze({
      sharesHostTransaction: true,
      survivesPowerLoss: lostPromises(settings).length === 0,
      multiProcess: settings.file,
      clock: "process",
    }),
    ...createInbox({ db, connection, clock, waitMs, observer }),
    ...createNewest<Db>(handles, () => clock.now()),
    ...createOutbox<Db>({ session, handles, wake }),
    ...createLanes<Db>({ session, wake, connection, db }),
    ...createOperator(session, wake),
    ...createRetention(session),
    ...createCursors({ connection, clock, waitMs }),
  };
}
