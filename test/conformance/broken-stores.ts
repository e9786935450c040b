import type { DedupFlaw } from "./naive-dedup.js";
import type { InboxFlaw } from "./naive-inbox.js";

/** For every flaw the promises that it breaks; it may break others with them. No promise of the kit is missing here. */
export const BROKEN_DEDUPS: Readonly<Record<Exclude<DedupFlaw, "none">, readonly string[]>> = {
  check_then_insert: [
    "of all concurrent calls with one id, exactly one gets duplicate: false",
    "concurrent calls with many ids in any order each have exactly one first",
  ],
  nobody_wins: [
    "of all concurrent calls with one id, exactly one gets duplicate: false",
    "a caller that is told duplicate: true is told so because another was told duplicate: false",
  ],
  expiry_ignored: ["when the ttl has passed, the id is new again"],
  expiry_a_moment_late: ["an id is new at the very moment its ttl has passed"],
  ttl_in_whole_seconds: ["an id is a duplicate up to the last millisecond of its ttl"],
  expired_won_twice: [
    "when the ttl has passed, exactly one of all concurrent calls gets duplicate: false again",
  ],
  duplicate_extends_the_window: ["the ttl counts from the first receipt: a duplicate does not extend it"],
  one_ttl_for_all: ["each id has a ttl of its own", "an id is remembered until its ttl has passed"],
  insert_outside_the_transaction: [
    "a rollback forgets the id",
    "an expired id that a transaction wins again is expired again when it rolls back",
  ],
  commit_forgets: ["a commit remembers the id"],
  held_ids_not_locked: [
    "while a transaction holds an id, nobody else is told duplicate: false",
    "when a transaction gives an id back, exactly one other is first",
  ],
  one_lock_for_all: [
    "an id that a transaction holds keeps no other id waiting",
    "two transactions that record the same ids in opposite order both come to an end",
  ],
  duplicate_poisons_the_transaction: ["a duplicate leaves the transaction fit for use"],
  memory_per_process: [
    "an id that one process recorded is a duplicate in every other",
    "of all concurrent calls with one id in several processes, exactly one gets duplicate: false",
  ],
  forgets_at_once: [
    "the first call with an id gets duplicate: false, every later one duplicate: true",
    "an id that was recorded before is a duplicate in a transaction",
    "within one transaction the second call with an id is a duplicate",
  ],
  one_id_for_all: ["what is known of one id says nothing of another"],
  stored_form_not_guarded: ["an id that looks like the stored form of another is not the other"],
  ids_normalised: ["ids that differ in anything at all are different ids"],
  ids_cut: ["ids that differ in anything at all are different ids"],
  plain_object_as_map: ["an id of any characters is remembered as it is"],
};

/** The same for stores. */
export const BROKEN_INBOXES: Readonly<Record<Exclude<InboxFlaw, "none">, readonly string[]>> = {
  claims_more: ["the store says of itself what its harness claims"],
  unknown_invented: ["an event that never arrived is not known"],
  known_denied: ["an event is applied and known as a success"],
  duplicate_applied: [
    "an event accepted twice is handled once, and the second time is a duplicate",
    "no handler runs for a duplicate or a conflict",
  ],
  writes_dropped: ["what the handler wrote is committed together with the event's row"],
  purge_does_nothing: ["purge removes rows whose window has passed, and their events are new again"],
  window_in_minutes: ["the window of a row ends that long after its last receipt"],
  window_ends_with_the_purge: [
    "an event whose window has passed is new again, though no purge has removed it",
  ],
  failure_of_the_passed_dropped: [
    "a failure of an event whose window has passed is recorded, though no purge has removed it",
  ],
  touch_creates: ["a duplicate of an unknown event is noted nowhere"],
  ids_cut: ["events whose ids differ in anything at all are different events"],
  headers_rewritten: ["everything that arrived with an event can be read again"],
  time_invented: ["an event without a time has none when it is read again"],
  check_then_insert: [
    "of all concurrent deliveries of one event, exactly one is applied",
    "concurrent deliveries of many events apply each of them once",
  ],
  waits_instead_of_busy: ["a delivery of an event that is being applied is told busy at once"],
  one_lock_for_all: [
    "an event that is being applied keeps no other event waiting",
    "a failure of one event touches no other that is being applied",
  ],
  row_seen_before_commit: ["an event that is being applied is not known yet"],
  insert_outside_the_transaction: [
    "a handler that throws leaves nothing behind, and what it threw is handed back",
    "a failed takeover leaves the row as it was",
    "when the delivery that was applying fails, the next one is applied",
  ],
  writes_outside_the_transaction: [
    "what the handler wrote is gone when it throws",
    "what the handler wrote is not seen before its event is known",
    "a handler that runs again after a failure has written once in the end",
  ],
  commit_not_refused: [
    "a handler that commits by itself and then throws has written nothing, and its event is not known",
  ],
  rollback_not_refused: [
    "what a handler writes after a rollback of its own is there with its event, or not at all",
  ],
  transaction_not_proved: [
    "what a handler writes in a transaction that it began itself is there with its event, or not at all",
  ],
  aborted_called_applied: [
    "what a handler that swallows the error of a statement has written is there with its event, or not at all",
  ],
  saturated_waits: [
    "an accept that gets no connection within acquireMs is told saturated, and its handler does not run",
  ],
  unknown_called_failed: [
    "an accept whose commit got no answer throws store_commit_unknown, and the next delivery finds the truth",
  ],
  error_swallowed: ["a handler that throws leaves nothing behind, and what it threw is handed back"],
  signal_ignored: [
    "a handler that is still running when the signal aborts is rolled back, and its event is free again",
  ],
  skipped_forgotten: [
    "an event that nobody handles is remembered as skipped",
    "purge removes skipped events like successes",
  ],
  skipped_without_its_reason: [
    "why an event was skipped is kept with it, and an event that is skipped without a reason keeps its last failure",
  ],
  skipped_forgets_its_failure: [
    "why an event was skipped is kept with it, and an event that is skipped without a reason keeps its last failure",
  ],
  skipped_never_taken_over: [
    "a row that says skipped is taken over whatever its body, because nothing of it was applied",
  ],
  failure_of_the_skipped_dropped: [
    "a failure of an event that was skipped before is recorded, and the event has no end of its window",
  ],
  keys_joined: ["the same id from another source or tenant is another event"],
  conflict_applied: ["the same id with another body is a conflict, and is not applied"],
  conflict_called_duplicate: ["the same id with another body is a conflict, and is not applied"],
  failed_never_taken_over: [
    "a row that says failed is taken over, and attempts go on counting",
    "a failed row that was taken over is purged like any other",
  ],
  failed_compared_by_body: [
    "a row that says failed is taken over whatever its body, because nothing of it was applied",
  ],
  takeover_not_locked: ["a row that says failed is taken over by exactly one of all concurrent deliveries"],
  attempts_not_counted: ["a failure is recorded with its attempt's number"],
  failure_without_its_key: ["a failure keeps the key of its event, and so does the next one"],
  failure_overwrites_success: ["a failure that comes after another delivery's success changes nothing"],
  failure_text_refused: ["the text of a failure may hold any characters"],
  type_refused: ["an event of a type of any characters is applied like any other"],
  result_parsed: ["what the handler returned is kept with the event"],
  purge_removes_failed: ["purge never removes a row that says failed"],
  purge_removes_unexpired: [
    "purge leaves rows whose window has not passed",
    "a row may be removed at the very moment its window has passed, and no millisecond before",
  ],
  purge_without_limit: ["purge removes no more than it may, oldest first, and says whether there is more"],
  purge_newest_first: ["purge removes no more than it may, oldest first, and says whether there is more"],
  window_from_first_receipt: ["a duplicate that was noted starts the window again"],
  kept_for_ever_is_zero: ["an event without a window is kept for ever"],
  touch_ignored: ["a duplicate that was noted starts the window again"],
  touch_makes_windows_shorter: ["a duplicate that was noted never makes a window shorter"],
  touch_always_counted: ["a duplicate that was noted is counted as a receipt, at most once a minute"],
  touch_not_counted: ["a duplicate that was noted is counted as a receipt, at most once a minute"],
  touch_once_a_minute: ["a window of less than two minutes starts again with a duplicate after half of it"],
  touch_of_the_failed: ["a duplicate that is noted of an event that failed changes nothing"],
  failed_keeps_its_window: [
    "an event that failed has no end of its window, which counts from when it is applied",
  ],
  window_from_the_failure: [
    "an event that failed has no end of its window, which counts from when it is applied",
    "a failed row that was taken over is purged like any other",
  ],
  body_as_text: ["a body is kept byte for byte", "the body of a failed event is kept byte for byte"],
  body_not_copied: ["bytes that the caller uses again afterwards are kept as they were"],
  refused_into_the_inbox: ["a refused event is recorded apart from the inbox, with its bytes"],
  refused_without_bytes: ["a refused event is recorded apart from the inbox, with its bytes"],
};
