import type { deadBulkFlaws } from "./outbox-flaws/dead-bulk.js";

const FILTERED =
  "dead letters are filtered by tenant, endpoint, reason, status, error and key, newest or oldest first, page by page";
const TIMES = "dead letters are filtered by the time at which they died, and by their numbers";
const ROUNDS =
  "many are redriven each in its round, in the given order; one that died again since then is in another round, and stays";

/** What breaks of the promises about many dead letters. */
export const BROKEN_DEAD_BULK: Readonly<Record<keyof typeof deadBulkFlaws, readonly string[]>> = {
  dead_filter_ignores_the_status: [FILTERED],
  dead_filter_ignores_the_key: [FILTERED],
  dead_filter_ignores_the_order: [FILTERED],
  dead_filter_ignores_the_time: [TIMES],
  dead_filter_ignores_the_number: [TIMES],
  dead_groups_count_what_is_redriven: [
    "dead letters that died alike are counted without reading them, largest group first; none of an endpoint that was removed",
  ],
  dead_summary_counts_the_head_as_waiting: [
    "a summary tells how many dead letters a filter lets through, in how many lanes, and how much waits behind them",
  ],
  redrive_of_many_in_any_round: [ROUNDS],
  redrive_of_many_backwards: [ROUNDS],
  cancel_of_everything: [
    "what waits in a lane is cancelled up to a sequence: the lane goes on behind it, and the gap is told on the wire",
  ],
  cancel_leaves_the_dead_letter: [
    "a cancelled lane resolves the dead letter of its head, and is empty where all of it was cancelled",
  ],
  cancel_forgets_the_head_under_way: [
    "a head that a worker has under way is skipped unless it succeeds when its lane is cancelled; behind it nothing changes",
  ],
};
