import { arms, claimed, isCurrent, redriven, released, retried, settled, skipped } from "./lane.js";

/** The rule as a value: the simulator plants bugs by replacing single functions. */
export interface LaneRule {
  readonly claimed: typeof claimed;
  readonly settled: typeof settled;
  readonly isCurrent: typeof isCurrent;
  readonly skipped: typeof skipped;
  readonly redriven: typeof redriven;
  readonly retried: typeof retried;
  readonly released: typeof released;
  readonly arms: typeof arms;
}

export const LANE_RULE: LaneRule = {
  claimed,
  settled,
  isCurrent,
  skipped,
  redriven,
  retried,
  released,
  arms,
};
