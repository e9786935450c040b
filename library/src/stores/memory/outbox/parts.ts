import type { Clock } from "../../../clock.js";
import type { DeadBecause } from "../../../lanes/dead.js";
import { LAPSES_BEFORE_ALONE } from "../../../lanes/lane.js";
import type { DeadPolicy } from "../../../lanes/dead.js";
import type { EndpointTable } from "./endpoints.js";
import type { EventLog } from "./events.js";
import type { CancelledBecause, History } from "../operator/history.js";
import type { Lane } from "../lanes/lane.js";
import type { Lanes } from "../lanes/lanes.js";

/** What the parts of the memory outbox share. */
export interface OutboxParts {
  readonly clock: Clock;
  readonly endpoints: EndpointTable;
  readonly events: EventLog;
  readonly lanes: Lanes;
  readonly history: History;
}

/** Whether it may run only with nothing beside it, because it has killed its process before. */
export function runsAlone({ lapses }: Lane): boolean {
  return lapses >= LAPSES_BEFORE_ALONE;
}

/** Gives up the head: its lane stands still, or goes on past the gap. Nothing waits for one without a lane: it stays where it is. */
export function killHead(
  { clock, history }: OutboxParts,
  lane: Lane,
  { because, policy }: { readonly because: DeadBecause; readonly policy: DeadPolicy },
): void {
  history.addDead(lane, because, new Date(clock.now()));
  if (lane.kind === "lane" && policy === "skip") return lane.passHead();
  lane.state = policy === "park" ? "parked" : "halted";
  lane.blockedAt ??= clock.monotonic();
}

/** The head will never be sent: that is written down, and the lane goes on past the gap. */
export function cancelHead({ clock, history }: OutboxParts, lane: Lane, because: CancelledBecause): void {
  history.addCancelled(lane, lane.headDelivery, { because, at: new Date(clock.now()) });
  lane.passHead();
}
