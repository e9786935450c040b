import type { LaneStore } from "../../../lanes/lane-store.js";
import type { Wake } from "../../../work/wake.js";
import type { OutboxSession } from "../outbox/session.js";
import type { Cursor } from "./claim.js";
import { claim } from "./claim.js";
import { extendLeases } from "./extend.js";
import { releaseLeases } from "./release.js";
import type { TenantCursor } from "./sequence.js";
import { sequence } from "./sequence.js";
import { settle } from "./settle.js";
import { untilDue } from "./until-due.js";

/** Ordering, claims and settlements. */
export function createLanes(session: OutboxSession, wake: Wake): LaneStore {
  const cursor: Cursor = { consumer: 0n };
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
    untilDue: () => session.lookAtDue(untilDue),
  };
}
