import type { Claim, LaneStore } from "../../../lanes/lane-store.js";
import type { Wake } from "../../../work/wake.js";
import type { OutboxSession } from "../outbox/session.js";
import type { Cursor } from "./claim.js";
import { claim } from "./claim.js";
import { extendLeases } from "./extend.js";
import { releaseLeases } from "./release.js";
import { sequence } from "./sequence.js";
import { settle } from "./settle.js";
import { untilDue } from "./until-due.js";

/** The lanes of a store in SQLite. */
export interface SqliteLanes extends LaneStore {
  /** Keeps each lease for `leaseMs` from now on under the same epoch; false for each that is not leased by this worker under that epoch. */
  extend(
    worker: string,
    leases: readonly Pick<Claim, "kind" | "id" | "epoch">[],
    leaseMs: number,
  ): Promise<readonly boolean[]>;
}

export function createLanes(session: OutboxSession, wake: Wake): SqliteLanes {
  const cursor: Cursor = { consumer: 0n };
  return {
    wake,
    sequence: () => sequence(session),
    claim: (request) => claim(session, request, cursor),
    settle: (request) => settle(session, request),
    async release(worker, held) {
      const released = await session.write((turn) => releaseLeases(turn, worker, held));
      if (released > 0) wake.ring("committed");
      return released;
    },
    extend: (worker, leases, leaseMs) =>
      session.write((turn) => extendLeases(turn, leases, { worker, leaseMs })),
    untilDue: () => session.lookAtDue(untilDue),
  };
}
