import type { replayFlaws } from "./outbox-flaws/replaying.js";

const ONCE = "what was applied is replayed in a new round, and applied once in it";
const ROUND = "a replay of another round than the present one changes nothing";

/** As `BROKEN_OUTBOXES`: for every flaw of handling events again promises that it breaks. */
export const BROKEN_REPLAYS: Readonly<Record<keyof typeof replayFlaws, readonly string[]>> = {
  replay_in_the_same_round: [ONCE],
  replay_of_any_round: [ROUND],
  redrive_applied_again: [ONCE, "what was skipped is redriven in its round; what was applied is not"],
  pending_redriven_in_a_new_round: ["what is replayed twice in the lane is applied once in its round"],
  replay_for_the_first_only: ["a replay goes to its consumer alone, at the end of its lane"],
  unknown_called_staged: ["an event without a stored one, or without a handler, is not handled again"],
  forget_leaves_the_rows: ["an event that is forgotten is new when it comes again"],
  forget_leaves_the_steps: [
    "the steps of an event that is forgotten are new when it comes again, in round 1",
  ],
  forget_of_what_runs: [
    "an event that a worker has leased is not forgotten, with a lane and without one",
    "an event is not forgotten while its first handler runs, though its lease has ended",
  ],
  forget_of_what_is_pending: ["an event that is to be handled again is not forgotten before it was"],
  mark_of_a_stored_event_changes_nothing: [
    "a stored event that is called applied at a consumer is a duplicate there, when it waits and when it is redriven",
  ],
  unhandled_with_what_was_handled: [
    "a stored event that has no row at a consumer is told, whether it waits or died; one that has a row, or was published, is not",
  ],
  mark_changes_nothing: ["a row that is called applied in its round is applied by nobody after that"],
};
