import type { Claim } from "../../../lanes/lane-store.js";
import { released } from "../../../lanes/lane.js";
import type { OutboxTurn } from "../outbox/turn.js";
import { changeLane } from "./lane-write.js";
import { leasedRows } from "./lane-row.js";

/** Gives back what a worker has leased and does not hold; says how many. */
export function releaseLeases(
  turn: OutboxTurn,
  worker: string,
  held: readonly Pick<Claim, "kind" | "id">[],
): number {
  const heldNames = new Set(held.map(({ kind, id }) => `${kind} ${id}`));
  const rows = leasedRows(turn.client, worker).filter(({ id, lane }) => !heldNames.has(`${lane.kind} ${id}`));
  for (const row of rows) changeLane(turn, row, released(row.lane));
  return rows.length;
}
