import type { extendingFlaws } from "./outbox-flaws/extending.js";
import type { laneFlaws } from "./outbox-flaws/lanes.js";

/** For every flaw of a lane's rule promises that it breaks; see broken-outboxes.ts. */
export const BROKEN_LANES: Readonly<Record<keyof typeof laneFlaws, readonly string[]>> = {
  lapse_written_at_its_end: ["a lapsed attempt starts at its lease's start and lasts as long as the lease"],
  attempt_without_a_next_state_not_counted: [
    "an attempt that is settled without a next state is counted, and its delivery is due at once",
  ],
  lapses_kept_by_an_attempt_that_returns: [
    "an attempt that returns ends the count of lapses: the next one runs beside others",
  ],
  skip_of_an_ended_lease_intended: [
    "a head whose lease has ended is skipped at once, under a new epoch, and its lapsed attempt is recorded",
    "a head whose run has lapsed is skipped at once, and what else the run held goes by itself",
  ],
  skip_of_an_ended_lease_without_a_fence: [
    "a head whose lease has ended is skipped at once, under a new epoch, and its lapsed attempt is recorded",
    "a head whose run has lapsed is skipped at once, and what else the run held goes by itself",
  ],
  skip_of_an_ended_lease_not_recorded: [
    "a head whose lease has ended is skipped at once, under a new epoch, and its lapsed attempt is recorded",
  ],
  release_leaves_the_skip_to_the_next_claim: [
    "a head that is to be skipped is skipped at once when its claim is released",
  ],
  skip_keeps_the_endpoint_running: [
    "skip of a head that is under way holds also when that stops the endpoint",
  ],
  paused_endpoint_not_disabled: ["a settlement as disabled stops the endpoint also where it is paused"],
  disabled_endpoint_disabled_again: ["an endpoint that is disabled keeps its first reason"],
  dead_told_by_any_attempt: [
    "a dead letter tells what the attempt by which it died came to, and nothing where it died without one",
  ],
  dead_of_a_removed_endpoint_listed: [
    "the dead letters of an endpoint that was removed are listed no more, and cannot be redriven",
  ],
  run_never_after_a_release: ["a run is allowed after a claim that was released"],
  round_lost_by_a_release: [
    "a redriven delivery stays in its round, whether its claims are released, fail or lapse",
  ],
  blocked_without_lapses: ["a lane whose head has lapsed is listed as retrying, with no failure"],
  blocked_since_any_head_failed: ["a lane is blocked since the first failure of the head that it has now"],
  blocked_since_the_endpoint_stopped: [
    "a lane whose head has failed is blocked since then, also where its endpoint stopped before",
  ],
  lane_blocked_since_the_endpoint_stopped: ["a lane says how long it is blocked, as blockedLanes does"],
  blocked_due_when_its_lease_ends: ["a lane whose head is tried again at this moment is due in 0 ms"],
  lane_due_when_its_lease_ends: ["a lane of which something is under way is due in 0 ms"],
};

/** The same for flaws of leases that are extended. */
export const BROKEN_EXTENSIONS: Readonly<Record<keyof typeof extendingFlaws, readonly string[]>> = {
  extend_does_nothing: ["an extended lease is claimed by nobody else until it ends"],
  extend_by_a_moment: ["an extended lease is claimed by nobody else until it ends"],
  extend_raises_the_epoch: ["an extended lease keeps its epoch, and its settlement counts"],
  extend_never_after_the_end: ["a lease that has ended and was claimed by nobody is extended"],
  extend_of_any_worker: ["extend is false for a lease of another worker, and leaves it as it is"],
  extend_always_true: [
    "extend is false for a lease of another worker, and leaves it as it is",
    "extend is false for a lease that was settled, released or claimed again, one by one",
  ],
  extend_all_or_none: ["extend is false for a lease that was settled, released or claimed again, one by one"],
  extend_starts_the_lease_anew: [
    "a lapse after an extension starts at the lease's own start, and lasts until its end",
  ],
  skip_of_an_extended_lease_at_once: ["a head whose lease was extended is under way: its skip is intended"],
};
