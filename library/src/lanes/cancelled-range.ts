import type { Lane, LaneChange } from "./lane.js";
import { skipped } from "./lane.js";

/** What a cancellation makes of a lane: everything from `from` to `through` will never be made. */
export interface CancelledRange {
  readonly change: LaneChange;
  readonly from: bigint;
  readonly through: bigint;
  /** The sequence of a dead head, whose dead letter is to be resolved. */
  readonly dead: bigint | undefined;
}

/**
 * Cancels what waits, from the head to `through`: a skip of the head that takes more with it. As with a skip, a head that
 * a worker has under way is only marked (`intended`): nothing behind it can be passed before it.
 */
export function cancelledRange(
  lane: Lane,
  { through, leaseHasEnded }: { readonly through: bigint; readonly leaseHasEnded: boolean },
): CancelledRange | "intended" | "unknown" {
  if (lane.head > through) return "unknown";
  const passed = skipped(lane, { head: lane.head, leaseHasEnded });
  if (typeof passed === "string") return passed;
  const last = through < lane.end ? through : lane.end - 1n;
  const dead = lane.state === "flowing" ? undefined : lane.head;
  const readyAfterMs = last + 1n < lane.end ? 0 : undefined;
  return {
    // The head is recorded with the others.
    change: { ...passed, head: last + 1n, readyAfterMs, cancelled: undefined },
    from: dead === undefined ? lane.head : lane.head + 1n,
    through: last,
    dead,
  };
}
