import type { applyingFlaws } from "./outbox-flaws/applying.js";
import type { handlerFlaws } from "./outbox-flaws/handlers.js";
import type { newestFlaws } from "./outbox-flaws/newest.js";
import type { pausingFlaws } from "./outbox-flaws/pausing.js";
import type { removingFlaws } from "./outbox-flaws/removing.js";
import type { holdingFlaws } from "./outbox-flaws/holding.js";

/** As `BROKEN_OUTBOXES`: for every flaw of handlers as consumers promises that it breaks. */
export const BROKEN_HANDLERS: Readonly<Record<keyof typeof handlerFlaws, readonly string[]>> = {
  stored_event_to_endpoints: [
    "what was stored for handlers goes to them, of every tenant, and to no endpoint",
  ],
  handler_of_one_tenant: ["what was stored for handlers goes to them, of every tenant, and to no endpoint"],
  handler_of_its_types_alone: [
    "a handler gets every type of the sources that it names, and nothing of others",
  ],
  handler_lanes_by_key_alone: ["a handler's lanes are of tenant, source and key"],
  first_handler_only: ["each of several handlers has its own lane of an event"],
  dispatcher_claims_handlers: ["what lapsed too often at a handler waits for its own workers"],
  lapsed_lanes_behind_those_of_others: [
    "what lapsed too often at one handler, however much, keeps nothing that lapsed at another waiting",
  ],
  worker_claims_every_handler: [
    "a dispatcher claims no handler, and a worker claims no endpoint and no handler that it does not name",
  ],
  until_due_of_everybody: ["untilDue speaks of those alone whose lanes the worker takes"],
  stored_before_its_handler_lost: [
    "what was stored before a handler is registered takes its place, in its order, when one is",
  ],
  unnamed_sequenced_again: [
    "what no handler names stays set aside, and is sequenced no second time, where handlers register other words or sources",
  ],
  registration_always_written: [
    "a handler that is registered in the same words is left as it is, and one in others is changed",
  ],
  last_registration_wins: [
    "versions of the host that register a handler in other words count together, whichever spoke last",
  ],
  handler_limited_by_what_is_held: [
    "a worker gets as much of a handler as it asks for, whatever others have under way",
  ],
  receipt_forgotten: ["what a receiver knew of an event reaches its handler"],
  handlers_cannot_be_redriven: [
    "a dead letter of a handler is listed, and its redrive goes back into its lane",
    "a dead event of a handler halts or parks its lane alone, and its redrive goes before all that waits behind it",
  ],
};

/** As `BROKEN_OUTBOXES`: for every flaw of `apply` promises that it breaks. */
export const BROKEN_APPLYING: Readonly<Record<keyof typeof applyingFlaws, readonly string[]>> = {
  apply_of_the_head_called_all: [
    "an apply commits what its handlers wrote, in order, together with the lane's next state",
  ],
  apply_keeps_what_a_handler_wrote_before_it_threw: [
    "an apply whose handler throws changes nothing, and its claim is still held",
  ],
  apply_acknowledges_more_than_it_was_given: [
    "an apply is given all events of its run at once, up to a hundred, and finishes no other",
  ],
  apply_tells_the_round_of_the_delivery: [
    "an apply tells its handlers the round of each event in the inbox, which a redrive does not raise",
  ],
  apply_leases_nothing: ["an apply returns the lane's next head, leased under a higher epoch"],
  apply_leases_another_consumers_lane: [
    "where nothing waits behind, an apply may lease another lane of the same consumer: due, leased by nobody, its head never tried",
  ],
  stale_apply_called_applied: ["an apply of a claim that has passed to another changes nothing"],
  apply_never_after_the_end: ["an apply whose lease has ended and was claimed by nobody counts"],
  applied_event_applied_again: [
    "an event that was applied before is a duplicate, and the lane goes on without it",
    "a run ends before an event that was applied before, or that it has already",
  ],
  handlers_share_a_row: [
    "each handler of an event applies it once",
    "handlers with a name apply an event once for themselves, also where it was applied in its request",
  ],
  unnamed_handlers_have_rows_of_their_own: [
    "an event that comes once in each mode is applied once, where it was applied in its request first",
    "an event is busy in one mode while it is applied in the other",
  ],
  applied_from_the_store_unknown_in_a_request: [
    "an event that comes once in each mode is applied once, where it was applied from the store first",
  ],
  apply_locks_the_lane: [
    "no lane is locked while a handler runs: what is stored meanwhile is sequenced, and is the next head",
  ],
};

/** As `BROKEN_OUTBOXES`: for every flaw of removals of handlers promises that it breaks. */
export const BROKEN_REMOVING: Readonly<Record<keyof typeof removingFlaws, readonly string[]>> = {
  handler_removed_from_its_worker: [
    "a handler that a worker has said to have within the given time is not removed",
  ],
  removed_handler_keeps_its_lanes: [
    "a handler that is removed gets nothing more, and what waits for it is no longer there",
    "a claim of a handler that is removed meanwhile leads to nothing more",
  ],
  removed_handler_cancels_nothing: ["each delivery of a handler that is removed is recorded as cancelled"],
  removed_handler_keeps_its_dead_letters: [
    "the dead letters of a handler that is removed are resolved, and none of them is redriven",
  ],
  removed_handler_forgets_what_it_applied: [
    "what a handler has applied before its removal is a duplicate after it is registered again",
  ],
  removed_handler_leaves_what_was_passed_over: [
    "what a person passed over at a handler is not redriven once it was removed, also where it is registered again",
  ],
  removed_handler_is_waited_for: [
    "an event that is to be handled again by a handler that was removed can be forgotten",
  ],
  removed_handler_stays_registered: [
    "a handler that is removed gets nothing more, and what waits for it is no longer there",
    "a worker that registers a removed handler makes it anew: it gets what is stored from then on, in lanes of a higher generation",
  ],
};

/** As `BROKEN_OUTBOXES`: for every flaw of pauses promises that it breaks. */
export const BROKEN_PAUSING: Readonly<Record<keyof typeof pausingFlaws, readonly string[]>> = {
  pause_not_heeded: [
    "nothing of a handler that is paused is claimed, and untilDue says when its pause ends",
    "an apply of a handler that is paused meanwhile counts, and gives no next head",
    "a settlement as paused pauses the handler: its attempt spends no failure, its delivery stays at the head, and nothing is leased",
  ],
  pause_without_its_end: [
    "nothing of a handler that is paused is claimed, and untilDue says when its pause ends",
  ],
  pause_never_ends: ["a pause ends by itself, and what waited goes on in order"],
  pause_counts_as_a_failure: [
    "a settlement as paused pauses the handler: its attempt spends no failure, its delivery stays at the head, and nothing is leased",
  ],
  pause_forgotten_by_a_settlement: [
    "a settlement as paused pauses the handler: its attempt spends no failure, its delivery stays at the head, and nothing is leased",
  ],
  pause_forgotten_at_registration: ["a pause is heeded by every process, and no registration ends it"],
  last_pause_counts: [
    "of two pauses the one that ends later stays, with its reason, and one without an end stays until it is resumed",
  ],
  pause_of_nobody: ["a pause says which person has paused the handler, and of a rule's pause that none has"],
  resume_says_nothing: ["a handler that is resumed goes on at once, and one that is active is told so"],
};

/** As `BROKEN_OUTBOXES`: for every flaw of events that are held promises that it breaks. */
export const BROKEN_HOLDING: Readonly<Record<keyof typeof holdingFlaws, readonly string[]>> = {
  hold_ignored: [
    "an event is held until the one before it in the sequence of its key has come",
    "whatever the order in which events come, they go in the order of their sequence",
    "events that were stored before a handler was registered go in the order of their sequence, too",
    "each of several handlers gets a held event, in the same order",
    "two that sequence at once give each event its place once, in the order of its sequence",
    "an event without a place in a sequence, and what is published, go as they come",
  ],
  hold_never_ends: [
    "no event is held for longer than it may: what was waited for is given up, and the event says so",
    "an event that comes after its place was passed goes at once, and says that it is late",
  ],
  hold_across_keys: [
    "the first event of a key starts its sequence, and keys, sources and tenants do not wait for each other",
  ],
  held_until_untold: ["a worker knows until when an event is held, and a dispatcher does not wait for it"],
  no_room_is_late: [
    "where a step has no room for all events of a key whose turn has come, the others go in the next one, and are not late",
  ],
  given_up_gap_untold: [
    "a step that gives up a gap has done something, and whoever sequences takes the next one at once",
  ],
  hold_without_number: [
    "no more events of a key are held than may be: with one more, the first gap is given up",
  ],
  generations_mixed: [
    "a higher generation starts the sequence anew, after all that is held of the one before",
  ],
  skipped_waited_for: ["what its sender has skipped is not waited for"],
  held_event_removed: ["an event stays while it is held, and its key is forgotten when its events are"],
  any_event_starts_a_key: [
    "where its mark says with which a key starts, the first events of a key wait for that one, no longer than they may",
  ],
  fill_does_nothing: [
    "a duplicate or a conflict fills its place in the sequence of its key: what comes behind it does not wait",
    "fill fills the place of an event that was answered and is not stored: what is held behind it goes",
    "what is missing before a filled place is still waited for, and alone is given up",
  ],
  waiting_event_fills_its_place: [
    "a duplicate or a conflict of an event that waits for its places fills none of them: nobody passes it",
  ],
  filled_place_lets_all_go: [
    "what is missing before a filled place is still waited for, and alone is given up",
  ],
  filled_in_any_key: ["a place is filled for its tenant, source, key and generation alone"],
  filled_for_ever: ["a filled place is forgotten when events of its time are"],
  late_by_a_filled_place: ["a filled place lets nobody pass: an event below it is not late"],
  late_untold: ["an event that comes after its place was passed goes at once, and says that it is late"],
  redrive_judged_again: ["a redrive waits for nobody"],
  held_events_of_any_key: [
    "held events are listed by tenant, source, key and sequence, with what is missing before each, page by page",
  ],
  held_events_without_what_is_missing: [
    "held events are listed by tenant, source, key and sequence, with what is missing before each, page by page",
  ],
  held_for_ever: ["a held event says since when it is held, and until when at the latest"],
  decided_forgotten: [
    "what was decided of an event is shown after its hold has ended: what was given up before it, and that it came late",
  ],
  late_not_shown: [
    "what was decided of an event is shown after its hold has ended: what was given up before it, and that it came late",
  ],
  release_lets_the_rest_wait: [
    "a release gives up what an event waits for: those before it go first, and each says what was given up",
    "a second release changes nothing, and what comes after a release is late",
  ],
  release_untold: [
    "a release gives up what an event waits for: those before it go first, and each says what was given up",
  ],
  released_twice: ["a second release changes nothing, and what comes after a release is late"],
};

/** As `BROKEN_OUTBOXES`: for every flaw of comparing versions promises that it breaks. */
export const BROKEN_NEWEST: Readonly<Record<keyof typeof newestFlaws, readonly string[]>> = {
  newest_without_its_lock: [
    "of two transactions that ask for one resource, the second waits for the end of the first: they are never both the newest",
  ],
  equal_version_is_newest: [
    "a version is the newest where all that is known is older, and an equal one of another event is stale",
    "an equal version is the newest again where the same event brought it, and stale once another event brings a newer one",
  ],
  replayed_version_is_stale: [
    "an equal version is the newest again where the same event brought it, and stale once another event brings a newer one",
  ],
  versions_rounded: ["versions of 64 bits are compared exactly"],
  rolled_back_version_kept: ["a rollback forgets the version"],
  versions_of_everybody: ["consumers, tenants, sources and resources have nothing to do with each other"],
  times_compared_with_numbers: ["a number is never compared with a time"],
  newest_answers_at_once: ["newest returns without a promise exactly where transactions are synchronous"],
};
