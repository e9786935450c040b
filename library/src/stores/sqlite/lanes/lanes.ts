import type { WorkerStore } from "../../../inbox/worker/worker-store.js";
import type { Wake } from "../../../work/wake.js";
import type { OutboxSession } from "../outbox/session.js";
import type { SqliteDatabase } from "../client/client.js";
import type { Connection } from "../client/connection.js";
import { removeHandler } from "../outbox/remove-handler.js";
import { apply } from "./apply.js";
import type { Cursor } from "./claim.js";
import { claim } from "./claim.js";
import { extendLeases } from "./extend.js";
import { pauseHandler, resumeHandler } from "./pause.js";
import { readHandlers, register } from "./register.js";
import { releaseLeases } from "./release.js";
import type { TenantCursor } from "./sequence.js";
import { sequence } from "./sequence.js";
import { settle } from "./settle.js";
import { beginStep, keepStep, roundOf } from "./steps.js";
import { untilDue } from "./until-due.js";

export interface LaneParts<Db extends SqliteDatabase> {
  readonly session: OutboxSession;
  readonly wake: Wake;
  readonly connection: Connection;
  readonly db: Db;
}

type Lanes<Db> = Omit<WorkerStore<Db, "synchronous">, "transactions" | "connections" | "attempts">;

/** Ordering, claims, settlements and handlers. */
export function createLanes<Db extends SqliteDatabase>({
  session,
  wake,
  connection,
  db,
}: LaneParts<Db>): Lanes<Db> {
  const cursor: Cursor = { all: 0n, brief: 0n };
  const tenants: TenantCursor = { tenant: "" };
  return {
    wake,
    sequence: () => sequence(session, tenants),
    claim: (request) => claim(session, request, cursor),
    settle: (request) => settle(session, request),
    async release(worker, held) {
      const released = await session.write((turn) => releaseLeases(turn, worker, held));
      if (released > 0) wake.ring("committed");
      return released;
    },
    extend: (worker, leases, leaseMs) =>
      session.write((turn) => extendLeases(turn, leases, { worker, leaseMs })),
    untilDue: (of) => session.lookAtDue((turn) => untilDue(turn, of)),
    async register(consumers) {
      await register(session, consumers);
      wake.ring("committed");
    },
    apply: (claimed, work, limits) => apply({ session, connection, db }, claimed, work, limits),
    pauseHandler: (id, pause) => session.write((turn) => pauseHandler(turn, id, pause)),
    async resumeHandler(id) {
      const resumed = await session.write((turn) => resumeHandler(turn, id));
      if (resumed) wake.ring("committed");
      return resumed;
    },
    async removeHandler(id, removal) {
      const removed = await removeHandler(session, id, removal);
      // What is left to cancel is cancelled by whoever sequences.
      if (removed === "removed") wake.ring("committed");
      return removed;
    },
    roundOf: (key, consumer) => session.look((turn) => roundOf(turn, key, consumer)),
    beginStep: (key, storedAs) => session.write((turn) => beginStep(turn, key, storedAs)),
    keepStep: (key, result) => session.write((turn) => keepStep(turn, key, result)),
    readHandlers: (ids) => session.look((turn) => readHandlers(turn, ids)),
  };
}
