import { BROKEN_REPLAYS } from "./broken-replaying.js";
import { BROKEN_INBOX_VIEWS } from "./broken-inbox-views.js";
import { BROKEN_DEAD_BULK } from "./broken-dead-bulk.js";
import {
  BROKEN_APPLYING,
  BROKEN_HANDLERS,
  BROKEN_HOLDING,
  BROKEN_NEWEST,
  BROKEN_PAUSING,
  BROKEN_REMOVING,
} from "./broken-handlers.js";
import { BROKEN_INGEST, BROKEN_LOOKUPS, BROKEN_RETENTION, BROKEN_VIEWS } from "./broken-gateways.js";
import { BROKEN_EXTENSIONS, BROKEN_LANES } from "./broken-lanes.js";
import { BROKEN_STEPS } from "./broken-steps.js";
import { BROKEN_RETRIES } from "./broken-retries.js";
import type { OutboxFlaw } from "./outbox-flaws/all.js";

/** For every flaw promises that it breaks; it may break others with them. No promise of the kit is missing here. */
export const BROKEN_OUTBOXES: Readonly<Record<OutboxFlaw, readonly string[]>> = {
  order_changed_with_a_backlog: [
    "a change of order holds for events that are sequenced after it",
    "the order of an endpoint is not changed while anything waits for it",
  ],
  lane_recreated_in_the_same_generation: [
    "a lane of an endpoint that was removed and added again has a higher generation",
  ],
  claims_more: ["the outbox says of itself what its harness claims"],
  rollback_leaves_the_event: [
    "an event of an open transaction is given to nobody",
    "an endpoint that is added while a transaction is open gets its events, because they are sequenced after it",
  ],
  commit_loses_the_event: [
    "events written into a transaction of the host are there when it commits",
    "events of one transaction are in the order in which they were written",
  ],
  order_of_a_call_reversed: ["events of one transaction are in the order in which they were written"],
  given_id_forgotten: [
    "a second event of a given id with the same type and body is a duplicate, and is not sent again",
  ],
  given_id_of_a_rollback_remembered: [
    "events written into a transaction of the host never were when it rolls back",
  ],
  given_id_twice_in_a_call: ["two bodies of one given id in one call are a conflict"],
  conflict_called_duplicate: [
    "a second event of a given id with another body is a conflict, and nothing of the call is written",
    "a second event of a given id with another type is a conflict, though its body is the same",
  ],
  conflict_written: [
    "a second event of a given id with another body is a conflict, and nothing of the call is written",
  ],
  duplicate_called_conflict: [
    "a second event of a given id with the same type and body is a duplicate, and is not sent again",
  ],
  conflict_lets_the_others_in: [
    "a second event of a given id with another body is a conflict, and nothing of the call is written",
    "two bodies of one given id in one call are a conflict",
  ],
  ids_across_tenants: ["the same given id of another tenant is another event"],
  ids_without_case: [
    "an id that was given is the id of its delivery, whatever its characters, and different ids are different events",
  ],
  bell_not_rung: ["append rings the bell", "ingest rings the bell"],
  appends_out_of_order: ["appends of the same moment keep the order of the calls"],
  conflict_spoils_the_batch: ["a conflict among appends of the same moment is its own caller's alone"],
  check_then_insert: ["of all concurrent appends of one given id, exactly one is written"],
  write_answers_at_once: ["write returns without a promise exactly where transactions are synchronous"],
  duplicate_poisons_the_transaction: [
    "a given id twice in one call or one transaction is written once",
    "a duplicate or a conflict leaves the host's transaction fit for use",
  ],
  late_commit_passed_over: ["an event whose transaction commits late is not passed over"],
  open_transaction_locks_all: ["an event in an open transaction lets no other event of its key wait"],
  rollback_leaves_a_gap: ["a transaction that rolls back leaves no gap in the sequences of a lane"],
  sequence_gap: ["a lane keeps the order of publishing, with sequences without a gap"],
  stage_not_drained_before_a_change: [
    "what was published before a change is sequenced by the old patterns",
    "an endpoint gets what is sequenced after it was added, and nothing earlier",
  ],
  sequenced_by_two: [
    "events that are sequenced by several at once have one place each",
    "if one event was committed before another was written, it comes first",
  ],
  lane_goes_back: ["a lane of an endpoint that was removed and added again never goes back"],
  deliver_at_ignored: ["an event with deliverAt takes its place when it is due"],
  deliver_at_in_the_past_lost: ["an event with deliverAt in the past is due at once"],
  deliver_at_never_due: [
    "an event with deliverAt takes its place when it is due",
    "an event with deliverAt goes to the endpoints that there are when it is due",
  ],
  body_as_text: ["a body is delivered byte for byte"],
  large_publication_cut: ["every event of a large publication has its place"],
  time_in_seconds: ["an event's time and content type come back as they were"],
  content_type_always_json: ["an event's time and content type come back as they were"],
  headers_lost: [
    "an event's headers come back as they were, and those of another never",
    "the next head that settle returns has its own headers",
  ],
  keys_without_case: ["a key of any characters is a lane of its own, and comes back as it is"],
  types_normalised: ["sources, types and tenants of any characters are matched and delivered"],
  endpoint_added_again: ["an endpoint is added once, and is read and listed as it is"],
  endpoint_loses_a_secret: ["an endpoint is added once, and is read and listed as it is"],
  endpoints_unsorted: ["endpoints are listed in the order of their ids, after the one that is named"],
  endpoints_of_every_tenant: ["endpoints are listed in the order of their ids, after the one that is named"],
  removed_endpoint_read: ["what waits for an endpoint that is removed is cancelled"],
  new_endpoint_gets_the_past: ["an endpoint gets what is sequenced after it was added, and nothing earlier"],
  patterns_ignored: [
    "an endpoint gets the events that match one of its sources and one of its types",
    "an event that no endpoint wants goes nowhere",
  ],
  tenants_mixed: [
    "every endpoint that matches gets a delivery of its own, and no endpoint of another tenant does",
  ],
  first_endpoint_only: [
    "every endpoint that matches gets a delivery of its own, and no endpoint of another tenant does",
    "the same key at another endpoint or of another tenant is another lane",
  ],
  order_always_by_key: [
    "an endpoint ordered as a whole has one lane for all events",
    "an endpoint without order has no lanes",
  ],
  one_lane_without_a_key: [
    "an endpoint ordered by key has a lane for each key, and none for events without one",
    "two workers that claim at once never hold one lane",
  ],
  one_lane_for_all_keys: [
    "an endpoint ordered by key has a lane for each key, and none for events without one",
    "lanes go on beside each other, also beside one that fails",
  ],
  lanes_across_endpoints: ["the same key at another endpoint or of another tenant is another lane"],
  sources_without_case: [
    "an endpoint gets the events that match one of its sources and one of its types",
    "sources, types and tenants of any characters are matched and delivered",
  ],
  change_keeps_the_version: ["a change returns the endpoint as it is now, with the next version"],
  change_to_nothing_ignored: ["a change returns the endpoint as it is now, with the next version"],
  paused_endpoint_claimed: [
    "nothing of an endpoint that is paused is claimed, and it keeps what waits, in order",
    "what is redriven at an endpoint that is paused waits until that is active",
  ],
  disabled_endpoint_claimed: [
    "nothing of an endpoint that is disabled is claimed, and it keeps what waits, in order",
  ],
  pause_breaks_leases: ["a claim of an endpoint that is paused meanwhile is settled, and gives no next"],
  pause_drops_what_waits: [
    "nothing of an endpoint that is paused is claimed, and it keeps what waits, in order",
  ],
  removed_twice: ["what waits for an endpoint that is removed is cancelled"],
  removal_leaves_what_waits: ["what waits for an endpoint that is removed is cancelled"],
  removal_leaves_lanes_running: ["a claim of an endpoint that is removed meanwhile leads to nothing more"],
  disabling_ignored: [
    "a settlement as disabled stops the endpoint with its reason, and the delivery stays due",
  ],
  disabling_without_reason: [
    "a settlement as disabled stops the endpoint with its reason, and the delivery stays due",
  ],
  empty_lane_starts_again: ["a lane that was empty goes on with the next sequence"],
  stopped_lanes_not_blocked: ["lanes whose endpoint is stopped are listed with its state"],
  lane_claimed_twice: [
    "nothing is claimed twice until its lease ends",
    "two workers that claim at once never hold one lane",
  ],
  head_and_next_at_once: ["of a lane only the head is due, and one delivery at a time is under way"],
  epoch_reused: [
    "whoever claims after another has a higher epoch",
    "settle returns the lane's next head, leased under the next epoch",
    "a stale settlement of a delivery without a lane changes nothing",
  ],
  lease_never_ends: ["nothing is claimed twice until its lease ends"],
  lease_a_moment_long: ["a lease ends at its very millisecond"],
  lease_a_moment_short: ["a lease ends at its very millisecond"],
  limit_ignored: ["no more is claimed than the limit"],
  cap_ignored: ["an endpoint gets at most maxInFlight less what the worker has of it"],
  in_flight_not_subtracted: ["an endpoint gets at most maxInFlight less what the worker has of it"],
  cap_over_all_endpoints: ["an endpoint gets at most maxInFlight less what the worker has of it"],
  shares_ignored: ["of an endpoint a worker gets no more than its share, less what it holds already"],
  share_of_others_forgotten: [
    "of an endpoint a worker gets no more than its share, less what it holds already",
  ],
  share_beside_what_is_held: [
    "of an endpoint a worker gets no more than its share, less what it holds already",
  ],
  brief_ignored: ["a brief claim gets loose deliveries and lanes that hold at most eight, and nothing else"],
  brief_without_turns: ["brief claims serve endpoints in turn, past any whose lanes are longer"],
  first_endpoint_first: ["endpoints are served in turn, whatever each has waiting"],
  newest_first: ["within an endpoint the one that waits longest is claimed first"],
  failing_lane_stops_the_endpoint: ["lanes go on beside each other, also beside one that fails"],
  after_forgotten: ["after names the last sequence that was not skipped, and nothing where the lane starts"],
  after_counts_what_was_skipped: [
    "after names the last sequence that was not skipped, and nothing where the lane starts",
  ],
  version_not_told: ["a change returns the endpoint as it is now, with the next version"],
  type_not_told: ["a claim holds everything that an attempt needs"],
  body_not_copied: [
    "a body is delivered byte for byte",
    "bytes that the caller uses again afterwards are kept as they were",
  ],
  expiry_not_told: ["a claim says how long until its event expires, and an expired one is still claimed"],
  expired_never_claimed: [
    "a claim says how long until its event expires, and an expired one is still claimed",
  ],
  sequences_as_numbers: ["sequences beyond 2^53 are kept to the last digit"],
  loose_sequence_told: [
    "deliveries without a lane are due all at once, and have neither sequence nor neighbour",
    "a delivery without a lane is tried again later, and has no next",
  ],
  release_does_nothing: ["release gives back what the worker has leased and does not hold"],
  release_of_what_is_held: ["release gives back what the worker has leased and does not hold"],
  release_of_every_worker: ["release gives back what the worker has leased and does not hold"],
  release_forgets_after_a_late_settlement: [
    "release gives back all that the worker has leased, by way of whichever process a settlement came too late",
  ],
  release_forgets_what_was_claimed_again: [
    "release gives back what the worker has claimed again, though it settles the claim before too late",
    "release gives back all that the worker has leased, by way of whichever process a settlement came too late",
  ],
  release_keeps_the_lease: ["a settlement of what was released changes nothing"],
  until_due_always_0: ["untilDue says 0 when something is due, and nothing when nothing waits for its time"],
  until_due_never: ["untilDue says 0 when something is due, and nothing when nothing waits for its time"],
  until_due_without_leases: ["untilDue says how long until a wait is over or a lease ends"],
  until_due_of_the_first_endpoint: [
    "untilDue looks at every endpoint, also behind one whose lanes are all leased",
  ],
  until_due_without_later_events: ["untilDue counts events that wait for their deliverAt"],
  until_due_counts_what_is_stopped: ["untilDue does not count what waits for an endpoint that is stopped"],
  run_without_limit: [
    "a run holds deliveries of one lane in order without a gap, the head first, up to its limit",
  ],
  run_without_limit_of_bytes: ["a run has no more bytes than it may, but always the head"],
  run_never: [
    "a run holds deliveries of one lane in order without a gap, the head first, up to its limit",
    "two lanes that are published to in turn have no gap either",
  ],
  run_of_a_tried_head: [
    "there is no run while the head was tried before",
    "there is no run after a claim that lapsed",
  ],
  run_while_suspect: [
    "a run that lapsed writes no attempt, and each that it held goes by itself from then on",
  ],
  run_never_after_a_lapse: [
    "a run that lapsed writes no attempt, and each that it held goes by itself from then on",
  ],
  run_lapse_charged: [
    "a run that lapsed writes no attempt, and each that it held goes by itself from then on",
  ],
  lapse_spends_a_failure: [
    "a claim whose lease has ended writes a lapsed attempt, which spends no failure",
    "failures and lapses are counted apart",
    "what lapsed three times is claimed alone",
  ],
  lapse_counted_twice: ["a lapse is counted once, by whoever claims first"],
  lapse_not_written: ["a claim whose lease has ended writes a lapsed attempt, which spends no failure"],
  lapse_written_as_failed: ["a claim whose lease has ended writes a lapsed attempt, which spends no failure"],
  never_alone: [
    "what lapsed three times is claimed alone",
    "what lapses while it runs alone is dead, and its lane halts",
  ],
  alone_at_once: ["what lapsed three times is claimed alone"],
  alone_beside_others: ["a claim alone asks for nothing but what lapsed three times, and for one"],
  alone_in_pairs: ["a claim alone asks for nothing but what lapsed three times, and for one"],
  alone_takes_a_place: ["what waits to be claimed alone takes no place of another"],
  alone_not_told: ["what lapsed three times is claimed alone"],
  alone_told_without_need: ["a delivery without a lane that lapses while it runs alone is dead"],
  lapse_alone_ignores_the_policy: [
    "what lapses while it runs alone lets its lane go on where the endpoint says skip",
  ],
  failures_lead_to_alone: [
    "a failure spends the retry budget, and is counted and numbered",
    "one that fails as often as it likes is never claimed alone",
  ],
  counters_kept_by_the_lane: ["the lapses of one lane are nothing to another, nor to the events after it"],
  no_fence: [
    "a settlement whose claim has passed to another changes nothing",
    "a stale settlement of a delivery without a lane changes nothing",
  ],
  ended_lease_is_stale: [
    "a settlement whose lease has ended and was claimed by nobody counts",
    "a run whose lease has ended and was claimed by nobody is settled as a whole",
  ],
  stale_attempts_written: ["a settlement whose claim has passed to another changes nothing"],
  stale_disables_the_endpoint: ["a settlement whose claim has passed to another changes nothing"],
  lease_not_ended_by_settle: ["a claim is settled once: a second settlement of it changes nothing"],
  acknowledged_comes_again: ["what was acknowledged is never claimed again, and its lane goes on"],
  loose_comes_again: ["what was acknowledged is never claimed again, and its lane goes on"],
  next_never: ["settle returns the lane's next head, leased under the next epoch"],
  next_always: [
    "a lane whose next head nobody wants is due at once",
    "attempts and next state are written together: the attempt's number is the count of the next claim",
    "events that come while a run is under way follow it",
  ],
  next_not_leased: ["settle returns the lane's next head, leased under the next epoch"],
  next_leased_for_ever: ["the next head is leased like any other: when that ends, it is claimed by another"],
  next_never_a_run: [
    "the next head of a settlement may be a run",
    "there is no run while the head was tried before",
  ],
  next_while_waiting: ["settle gives no next head while the head has to wait, or is dead and halts its lane"],
  settled_by_two: ["of two settlements of one claim at once, one counts"],
  one_stale_spoils_all: ["settlements of one call are answered one by one, and a stale one spoils no other"],
  answers_out_of_order: ["settlements of one call are answered one by one, and a stale one spoils no other"],
  wait_ignored: ["a delivery that failed is tried again later at the head of its lane: later ones wait"],
  wait_a_moment_long: ["a delivery is due at the very moment its wait is over, and no millisecond before"],
  wait_a_moment_short: ["a delivery is due at the very moment its wait is over, and no millisecond before"],
  retry_lets_the_next_past: [
    "a delivery that failed is tried again later at the head of its lane: later ones wait",
  ],
  loose_not_tried_again: ["a delivery without a lane is tried again later, and has no next"],
  failure_not_counted: ["a failure spends the retry budget, and is counted and numbered"],
  failure_always_counted: ["an attempt that does not count spends nothing of the retry budget"],
  given_back_counts: ["a claim that is given back untried is due at once, as if it had never been claimed"],
  given_back_waits: ["a claim that is given back untried is due at once, as if it had never been claimed"],
  rest_of_a_run_lost: ["what of a run was not tried is due at once, as if it had never been claimed"],
  run_acknowledged_in_part: [
    "a run that was acknowledged as a whole moves the lane behind it, with an attempt of each",
  ],
  run_failure_forgets_the_acknowledged: [
    "one of a run that dies halts its lane or lets it go on, behind what was acknowledged",
  ],
  cancelled_comes_again: [
    "a delivery that is cancelled is passed over, and never claimed again",
    "a delivery that is cancelled is recorded with its reason",
    "settle gives the next head also after one that died or was cancelled and let the lane go on",
  ],
  cancelled_halts_its_lane: ["a delivery that is cancelled is passed over, and never claimed again"],
  cancelled_without_record: [
    "each delivery of an endpoint that is removed is recorded as cancelled",
    "a delivery that is cancelled is recorded with its reason",
    "what was skipped is recorded",
  ],
  attempts_not_written: ["every attempt is kept with what it came to, and where it went, in order"],
  attempts_newest_first: ["every attempt is kept with what it came to, and where it went, in order"],
  attempts_without_answer: ["every attempt is kept with what it came to, and where it went, in order"],
  attempts_of_the_last_round: [
    "a dead letter that is redriven at the head of its lane keeps its place, in a new round with a fresh retry budget",
  ],
  attempts_of_the_head_only: [
    "a run that was acknowledged as a whole moves the lane behind it, with an attempt of each",
    "a run ends at the first that is not acknowledged, which becomes the head with one attempt",
  ],
  halt_lets_the_lane_go_on: ["a dead delivery under halt stops its lane and no other: later events wait"],
  park_lets_the_lane_go_on: ["a dead delivery under park stops its lane and no other: later events wait"],
  park_called_halt: ["a lane whose head is dead is listed as halted or parked, and is never due"],
  skip_halts_the_lane: ["a dead delivery under skip lets its lane go on past the gap"],
  dead_without_record: ["a dead letter says what died, where, why and after how many attempts"],
  death_counts_no_failure: [
    "a lane whose head is dead shows each of its failures, the last one included; a redrive begins anew",
    "a lane whose head is dead is halted or parked, and one whose endpoint is stopped has its state",
  ],
  death_without_an_attempt_counts: ["a delivery that dies without an attempt has no failure more"],
  dead_lane_armed_by_the_next_event: [
    "a delivery that failed is tried again later at the head of its lane: later ones wait",
    "a dead delivery under halt stops its lane and no other: later events wait",
    "a dead delivery under park stops its lane and no other: later events wait",
  ],
  dead_blocks_always: [
    "a dead delivery under skip lets its lane go on past the gap",
    "a dead delivery without a lane stops nothing, whatever the policy",
  ],
  dead_blocks_never: ["a dead delivery under halt stops its lane and no other: later events wait"],
  dead_always_exhausted: ["every reason to die is kept"],
  dead_without_status: ["a dead letter says what died, where, why and after how many attempts"],
  dead_without_attempts: ["a dead letter says what died, where, why and after how many attempts"],
  dead_always_of_round_1: [
    "a redriven delivery that dies again is a dead letter of its new round, and can be redriven again",
    "one that is redriven at the end and dies again is a dead letter of its new place",
  ],
  dead_oldest_first: ["dead letters are listed newest first, page by page"],
  dead_pages_overlap: ["dead letters are listed newest first, page by page"],
  dead_without_pages: ["dead letters are listed newest first, page by page"],
  redrive_always_at_the_end: [
    "a dead letter that is redriven at the head of its lane keeps its place, in a new round with a fresh retry budget",
  ],
  redrive_keeps_the_round: [
    "a dead letter that is redriven at the head of its lane keeps its place, in a new round with a fresh retry budget",
  ],
  redrive_keeps_the_budget: [
    "a dead letter that is redriven at the head of its lane keeps its place, in a new round with a fresh retry budget",
  ],
  redrive_at_the_end_keeps_the_round: ["a dead letter whose lane went on is redriven at the end of the lane"],
  redrive_twice: ["a second redrive changes nothing", "what is gone can be redriven no more"],
  redrive_of_anything: ["a second redrive changes nothing", "redrive knows only the dead"],
  redrive_without_a_lane_lost: ["a dead letter without a lane is redriven in a new round"],
  redrive_leaves_the_letter: [
    "a redriven delivery that dies again is a dead letter of its new round, and can be redriven again",
  ],
  set_aside_of_anything: ["nothing that was set aside has a number that nobody was given"],
  blocked_never: ["a lane whose head has failed is listed as retrying, until it succeeds"],
  blocked_while_due: ["lanes that move are not blocked"],
  blocked_after_the_gap: ["a lane that went on after a dead delivery is not blocked"],
  blocked_since_the_last_failure: ["a lane whose head has failed is listed as retrying, until it succeeds"],
  blocked_shortest_first: ["blocked lanes are listed longest blocked first, page by page"],
  blocked_always_retrying: ["a lane whose head is dead is listed as halted or parked, and is never due"],
  blocked_without_depth: ["a lane whose head has failed is listed as retrying, until it succeeds"],
  blocked_always_due: ["a lane whose head has failed is listed as retrying, until it succeeds"],
  skip_forgets_the_dead: [
    "skip of a dead head lets its lane go on; its dead letter is listed no more, and can still be redriven at the end",
  ],
  skip_leaves_the_dead_letter: [
    "skip of a dead head lets its lane go on; its dead letter is listed no more, and can still be redriven at the end",
  ],
  skip_of_the_dead_refused: [
    "skip of a dead head lets its lane go on; its dead letter is listed no more, and can still be redriven at the end",
    "skip of the only delivery of a lane leaves it empty, and the next event starts it again",
  ],
  skip_as_dead: [
    "skip of a waiting head passes over it, and the gap is told on the wire",
    "skip of a head that is under way holds as soon as that does not succeed",
  ],
  skip_leaves_the_lane_waiting: [
    "skip of a head that waits for its next attempt lets its lane go on at once",
  ],
  skip_of_two: ["skip passes over one head, and touches no other lane"],
  skip_breaks_the_lease: ["skip of a head that is under way is intended: it is not skipped if that succeeds"],
  skip_intent_forgotten: [
    "skip of a head that is given back untried holds at once",
    "skip of a head whose claim lapses holds when it is claimed again",
    "a head that is to be skipped is skipped at once when its claim is released",
  ],
  skip_intent_outlives_its_head: [
    "skip of a head that is under way is intended: it is not skipped if that succeeds",
  ],
  skip_of_nothing: ["skip of an empty or unknown lane changes nothing"],
  skip_of_any_head: [
    "skip of a head that is another by then changes nothing",
    "skip of another head than the one that is under way is not intended",
    "a second skip of a head changes nothing",
    "of several skips of one head at once, one counts",
  ],
  skip_intends_any_head: ["skip of another head than the one that is under way is not intended"],
  skip_compares_too_early: ["of several skips of one head at once, one counts"],
  skip_released_takes_the_next: ["a second skip of a head whose claim was released passes over no other"],
  ...BROKEN_LANES,
  ...BROKEN_EXTENSIONS,
  ...BROKEN_HANDLERS,
  ...BROKEN_APPLYING,
  ...BROKEN_STEPS,
  ...BROKEN_PAUSING,
  ...BROKEN_REMOVING,
  ...BROKEN_HOLDING,
  ...BROKEN_NEWEST,
  ...BROKEN_INGEST,
  ...BROKEN_LOOKUPS,
  ...BROKEN_DEAD_BULK,
  ...BROKEN_RETRIES,
  ...BROKEN_RETENTION,
  ...BROKEN_VIEWS,
  ...BROKEN_INBOX_VIEWS,
  ...BROKEN_REPLAYS,
};
