import { reach } from "#faults";
import type { Claim } from "../../../lanes/lane-store.js";
import type { OutboxTurn } from "../outbox/turn.js";

/** Keeps leases of a worker for `leaseMs` from now on, under their epochs; false for each that is no longer this worker's under that epoch. */
export function extendLeases(
  turn: OutboxTurn,
  leases: readonly Pick<Claim, "kind" | "id" | "epoch">[],
  { worker, leaseMs }: { readonly worker: string; readonly leaseMs: number },
): boolean[] {
  const until = turn.nowMs + Math.ceil(leaseMs);
  reach("extend.before_record");
  const kept = leases.map(({ kind, id, epoch }) => {
    const table = kind === "lane" ? "posthorn_lane" : "posthorn_loose_delivery";
    const extended = turn.client.run(
      // `leased_at` stays: a lapsed attempt began when its lease did, however often that was extended.
      `update ${table} set leased_until = ?, ready_at = ? where id = ? and leased_by = ? and epoch = ?`,
      until,
      until,
      id,
      worker,
      epoch,
    );
    return extended === 1;
  });
  reach("extend.after_record");
  return kept;
}
