import type { WorkerStore } from "../../../inbox/worker/worker-store.js";
import type { Pool, Session } from "../client/database.js";
import { readHandlers } from "../outbox/consumer-row.js";
import { removeHandler } from "../outbox/remove-handler.js";
import { RunApplier } from "./apply.js";
import type { ClaimParts } from "./claim.js";
import { Claimer } from "./claim.js";
import { extend } from "./extend.js";
import { pauseHandler, resumeHandler } from "./pause.js";
import { register } from "./register.js";
import { release } from "./release.js";
import { SeenTime } from "./seen-time.js";
import type { Sequencer } from "./sequence.js";
import { settle } from "./settle.js";
import { createSteps } from "./steps.js";
import { readUntilDue } from "./until-due.js";

export interface LaneParts<Tx> extends ClaimParts {
  readonly pool: Pool<Tx>;
  readonly sequencer: Sequencer;
  /** Called when something was committed. */
  readonly committed: () => void;
}

type Lanes<Tx> = Omit<WorkerStore<Tx, "asynchronous">, "wake" | "transactions" | "connections" | "attempts">;

/** Ordering, claims, settlements and handlers. */
export function createLanes<Tx>(parts: LaneParts<Tx>): Lanes<Tx> {
  const claimer = new Claimer(parts);
  const seenTime = new SeenTime(parts);
  const applier = new RunApplier<Tx>(parts.pool, parts.tables);
  const reader: Session = { query: (statement) => parts.transactions.read(statement) };
  return {
    sequence: () => parts.sequencer.sequence(),
    claim: async (request) => {
      await seenTime.keep();
      return claimer.claim(request);
    },
    settle: (request) => settle(parts, request),
    extend: (worker, leases, leaseMs) => extend(parts, { worker, leases, leaseMs }),
    release: (worker, held) => release(parts, worker, held),
    untilDue: (of) => readUntilDue(parts, of, parts.secrets.unopened),
    async register(consumers) {
      await register(parts, consumers);
      parts.committed();
    },
    apply: (claimed, work, limits) => applier.apply(claimed, work, limits),
    pauseHandler: (id, pause) => pauseHandler(parts, id, pause),
    async resumeHandler(id) {
      const resumed = await resumeHandler(parts, id);
      if (resumed) parts.committed();
      return resumed;
    },
    async removeHandler(id, removal) {
      const removed = await removeHandler(parts, id, removal);
      // What is left to cancel is cancelled by whoever sequences.
      if (removed === "removed") parts.committed();
      return removed;
    },
    ...createSteps(parts),
    readHandlers: (ids) => readHandlers(reader, ids, parts.tables),
  };
}
