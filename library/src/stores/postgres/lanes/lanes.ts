import type { LaneStore } from "../../../lanes/lane-store.js";
import type { ClaimParts } from "./claim.js";
import { Claimer } from "./claim.js";
import type { HeldLease } from "./extend.js";
import { extend } from "./extend.js";
import { release } from "./release.js";
import type { Sequencer } from "./sequence.js";
import { settle } from "./settle.js";
import { readUntilDue } from "./until-due.js";

export interface LaneParts extends ClaimParts {
  readonly sequencer: Sequencer;
}

/** What workers ask of a store beyond the port: to keep leases under their epochs. */
export interface LeaseExtender {
  /** Keeps each lease for `leaseMs` from now on under its epoch; false for each that this worker has no more. */
  extend(worker: string, leases: readonly HeldLease[], leaseMs: number): Promise<readonly boolean[]>;
}

/** Ordering, claims and settlements. */
export function createLanes(parts: LaneParts): Omit<LaneStore, "wake"> & LeaseExtender {
  const claimer = new Claimer(parts);
  return {
    sequence: () => parts.sequencer.sequence(),
    claim: (request) => claimer.claim(request),
    settle: (request) => settle(parts, request),
    extend: (worker, leases, leaseMs) => extend(parts, { worker, leases, leaseMs }),
    release: (worker, held) => release(parts, worker, held),
    untilDue: () => readUntilDue(parts, parts.secrets.unopened),
  };
}
