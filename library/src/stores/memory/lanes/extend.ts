import type { Claim } from "../../../lanes/lane-store.js";
import type { MemoryParts } from "../parts.js";

/** A lease, as its worker names it. */
export type LeaseName = Pick<Claim, "kind" | "id" | "epoch">;

/**
 * Keeps each lease for `leaseMs` from now on, under the same epoch; false for one that this worker does not have under
 * that epoch. The lease's start stays: a lapse is recorded as long as the whole lease.
 */
export function extend(
  { clock, lanes }: MemoryParts,
  worker: string,
  { leases, leaseMs }: { readonly leases: readonly LeaseName[]; readonly leaseMs: number },
): readonly boolean[] {
  const endsAt = clock.monotonic() + leaseMs;
  return leases.map(({ kind, id, epoch }) => {
    const row = lanes.find(kind, id);
    if (row?.lease?.worker !== worker || row.epoch !== epoch) return false;
    const durationMs = row.lease.durationMs + endsAt - row.lease.endsAt;
    lanes.lease(row, epoch, { ...row.lease, durationMs, endsAt });
    return true;
  });
}
