import type { LaneStore } from "../../../lanes/lane-store.js";
import type { ClaimParts } from "./claim.js";
import { Claimer } from "./claim.js";
import { extend } from "./extend.js";
import { release } from "./release.js";
import { SeenTime } from "./seen-time.js";
import type { Sequencer } from "./sequence.js";
import { settle } from "./settle.js";
import { readUntilDue } from "./until-due.js";

export interface LaneParts extends ClaimParts {
  readonly sequencer: Sequencer;
}

/** Ordering, claims and settlements. */
export function createLanes(parts: LaneParts): Omit<LaneStore, "wake"> {
  const claimer = new Claimer(parts);
  const seenTime = new SeenTime(parts);
  return {
    sequence: () => parts.sequencer.sequence(),
    claim: async (request) => {
      await seenTime.keep();
      return claimer.claim(request);
    },
    settle: (request) => settle(parts, request),
    extend: (worker, leases, leaseMs) => extend(parts, { worker, leases, leaseMs }),
    release: (worker, held) => release(parts, worker, held),
    untilDue: () => readUntilDue(parts, parts.secrets.unopened),
  };
}
