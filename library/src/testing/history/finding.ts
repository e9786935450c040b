import type { HistoryRecord } from "./record.js";

/** How a promise was broken, with the fewest records that prove it. */
export interface Finding {
  readonly found: string;
  readonly witness: readonly HistoryRecord[];
}
