import type { DeadBecause } from "../lanes/dead.js";
import type { DeadFilter, DeadGroupFilter } from "./dead-filter.js";
import type { Redriven } from "./operator-store.js";

/** Dead letters of one endpoint that died alike. */
export interface DeadGroup {
  readonly tenant: string;
  readonly endpointId: string;
  readonly because: DeadBecause;
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly count: number;
  /** When the first and the last of those that are listed died. */
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** So many dead letters are looked at for a summary, the oldest first. */
export const MOST_SUMMED = 100_000;

/** What a filter lets through, added up. */
export interface DeadSummary {
  readonly count: number;
  /** Whether more than `MOST_SUMMED` match. */
  readonly more: boolean;
  /** The highest number among those that were counted. */
  readonly upTo: bigint | undefined;
  /** In how many lanes they died. */
  readonly lanes: number;
  /** How many of them block their lanes. */
  readonly blocking: number;
  /** How many deliveries wait behind those that block. */
  readonly waitingBehind: number;
  readonly endpoints: readonly { readonly endpointId: string; readonly count: number }[];
}

/** One dead letter, in the round in which it is meant. */
export interface DeadRound {
  /** `dlv_…` */
  readonly id: string;
  readonly round: number;
}

/** Where a delivery that was redriven in its round is now. */
export type RedrivenRound =
  | Redriven
  /** It was redriven in this round before: nothing was changed. */
  | "before";

/** What became of a cancellation. */
export type LaneCancelled =
  /** How many deliveries will never be made; those behind `through` go on. */
  | { readonly kind: "cancelled"; readonly count: number }
  /** A worker has the head under way: it is skipped unless that succeeds. Nothing behind it was changed. */
  | { readonly kind: "intended" }
  /** Nothing up to this sequence waits in the lane, or there is none of this id. */
  | { readonly kind: "unknown" };

/** How a person deals with many dead letters at once. Each sentence is a case of the conformance kit, in the same words. */
export interface DeadStore {
  /** Dead letters that died alike, counted without reading them; largest first, none of an endpoint that was removed. */
  deadGroups(filter: DeadGroupFilter): Promise<readonly DeadGroup[]>;
  /** What the dead letters of a filter come to: how many, in how many lanes, and how much waits behind them. */
  deadSummary(filter: DeadFilter): Promise<DeadSummary>;
  /** Redrives each in its round, in the given order; one that died again since then is in another round, and stays. */
  redriveAll(letters: readonly DeadRound[]): Promise<readonly RedrivenRound[]>;
  /**
   * Cancels what waits in a lane, from its head to this sequence: the lane goes on behind it, and the gap is told on the
   * wire. The dead letter of a dead head is resolved; at a handler it can still be redriven. A head that a worker has under way is skipped unless it succeeds.
   */
  cancel(laneId: bigint, through: bigint): Promise<LaneCancelled>;
}
