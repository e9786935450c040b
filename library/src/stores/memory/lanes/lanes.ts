import type { LaneStore } from "../../../lanes/lane-store.js";
import type { Publications } from "../outbox/publications.js";
import type { MemoryParts } from "../parts.js";
import { claim } from "./claim.js";
import { extend } from "./extend.js";
import type { LeaseName } from "./extend.js";
import { release } from "./release.js";
import { settle } from "./settle.js";
import { untilDue } from "./until-due.js";

/** The verbs of lanes. */
export interface MemoryLanes extends LaneStore {
  /** Keeps leases for `leaseMs` from now on; false for each that this worker does not have under that epoch. */
  extend(worker: string, leases: readonly LeaseName[], leaseMs: number): Promise<readonly boolean[]>;
}

export function createLanes(parts: MemoryParts, publications: Publications): MemoryLanes {
  const cursor = { served: "" };
  return {
    wake: parts.wake,
    // Events have their places when they commit; only those that had to wait for their time are left.
    sequence: () => Promise.resolve({ events: publications.placeDue(), more: false }),
    claim: (request) => Promise.resolve(claim(parts, cursor, request)),
    settle: (request) => Promise.resolve(request.settlements.map((each) => settle(parts, each, request))),
    release: (worker, held) => Promise.resolve(release(parts, worker, held)),
    extend: (worker, leases, leaseMs) => Promise.resolve(extend(parts, worker, { leases, leaseMs })),
    untilDue: () => Promise.resolve(untilDue(parts, publications)),
  };
}
