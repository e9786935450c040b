import type { inboxViewFlaws } from "./outbox-flaws/inbox-views.js";

const BY_TIME = "rows of the inbox are listed by the time of their first receipt, newest first, page by page";
const OF_A_RUN =
  "rows of one run are listed in the order in which they were handled, either way, page by page";
const REPLAYED = "a run that is replayed in the order of its rows is handled in the order in which it was";
const FILTERED = "rows of the inbox are found by tenant, source, consumer, outcome, type and time";
const OF_EACH =
  "an event has a row of the inbox for each of its consumers, which names the stored event and the result";
const CONSUMERS = "consumers say what waits for them, what is dead there, and when a worker was last there";

/** As `BROKEN_OUTBOXES`: for every flaw of what an operator sees of an inbox promises that it breaks. */
export const BROKEN_INBOX_VIEWS: Readonly<Record<keyof typeof inboxViewFlaws, readonly string[]>> = {
  inbox_oldest_first: [BY_TIME],
  inbox_rows_of_one_run_by_their_ids: [OF_A_RUN, REPLAYED],
  inbox_of_any_tenant: [FILTERED],
  inbox_of_any_consumer: [FILTERED],
  inbox_of_any_outcome: [FILTERED],
  inbox_of_any_time: [FILTERED],
  inbox_prefix_of_any_source: [
    "rows of the inbox are found by the beginning of their ids, in the order of the ids",
  ],
  inbox_row_of_one_consumer: [OF_EACH],
  inbox_forgets_the_size_of_the_stored_event: [
    "the payload of a handled event is the stored event's: its row tells the size, and 0 once retention has removed it",
  ],
  inbox_forgets_the_stored_event: [OF_EACH],
  inbox_forgets_results: [OF_EACH],
  consumers_without_dead: [CONSUMERS],
  consumers_never_seen: [CONSUMERS],
  consumers_without_what_waits: [CONSUMERS],
  handlers_dead_of_no_tenant: ["what is dead or stuck at a handler is found by the tenant of its event"],
  redrive_into_a_lane_of_nobody: [
    "a redrive of a handler's dead letter that was passed over goes to the end of the lane of its tenant",
  ],
  skipped_at_a_handler_is_lost: [
    "what was passed over at a handler while it waited is redriven at the end of its lane, once; at an endpoint it is not",
  ],
  skipped_at_a_handler_in_any_round: [
    "what was passed over at a handler while it waited is redriven at the end of its lane, once; at an endpoint it is not",
  ],
  cancelled_dead_head_at_a_handler_is_lost: [
    "the dead head of a handler's lane that was cancelled with what waits behind it is redriven at the end of its lane, as they are; at an endpoint it is not",
  ],
  redriven_and_applied_looks_dead: [
    "a delivery that was redriven, and that its handler then applied, is delivered in its new round, with an attempt that says so",
  ],
  loose_at_handlers_not_found: [
    "a delivery to a handler is one of its event's, also without a lane, and is not called dead once it is applied",
  ],
};
