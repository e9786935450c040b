import type { Claim } from "../../delivery/delivery-store.js";
import { leasedLanes, saveLane } from "./lane.js";
import { leasedLoose, saveLoose } from "./loose.js";
import type { OutboxTurn } from "./outbox-turn.js";

/** Gives back what a worker has leased and does not hold. Under the next epoch, so that a settlement which still comes changes nothing. */
export function releaseLeases(
  { client, nowMs }: OutboxTurn,
  worker: string,
  held: readonly Pick<Claim, "kind" | "id">[],
): number {
  const heldNames = new Set(held.map(({ kind, id }) => `${kind} ${id}`));
  const lanes = leasedLanes(client, worker).filter(({ id }) => !heldNames.has(`lane ${id}`));
  for (const lane of lanes) {
    lane.epoch += 1n;
    lane.arm(nowMs);
    saveLane(client, lane);
  }
  const loose = leasedLoose(client, worker).filter(({ id }) => !heldNames.has(`loose ${id}`));
  for (const each of loose) {
    each.epoch += 1n;
    each.arm(nowMs);
    saveLoose(client, each);
  }
  return lanes.length + loose.length;
}
