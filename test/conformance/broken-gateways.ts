import type { ingestFlaws } from "./outbox-flaws/ingest.js";
import type { lookupFlaws } from "./outbox-flaws/lookups.js";
import type { retentionFlaws } from "./outbox-flaws/retention.js";
import type { viewFlaws } from "./outbox-flaws/views.js";

/** As `BROKEN_OUTBOXES`: for every flaw of taking events in promises that it breaks. */
export const BROKEN_INGEST: Readonly<Record<keyof typeof ingestFlaws, readonly string[]>> = {
  ingest_loses_the_event: [
    "an incoming event of which no name is known is stored, ready to be sequenced",
    "incoming events of the same moment are in the order of the calls, each with its own answer",
  ],
  ingest_without_headers: ["an incoming event of which no name is known is stored, ready to be sequenced"],
  ingest_ignores_deliver_at: ["an incoming event with deliverAt takes its place when it is due"],
  name_forgotten: [
    "an incoming event of which a name is known is a duplicate of the first, and is not stored",
    "of incoming events that share a name and come at once, one is stored",
  ],
  duplicate_stored_again: [
    "an incoming event of which a name is known is a duplicate of the first, and is not stored",
  ],
  duplicate_told_its_own_id: [
    "an incoming event of which a name is known is a duplicate of the first, and is not stored",
  ],
  other_body_is_a_duplicate: [
    "an incoming event of which a name is known with another body is a conflict, and is not stored",
  ],
  conflict_leaves_its_names: [
    "an incoming event of which a name is known with another body is a conflict, and is not stored",
  ],
  missing_hash_is_a_conflict: ["where a name says nothing of the body, another body is no conflict"],
  only_the_first_name_kept: ["all names of an incoming event that came before are known from then on"],
  further_names_not_learnt: ["all names of an incoming event that came before are known from then on"],
  names_across_tenants: ["the same name of another tenant, or in other letters, is another incoming event"],
  names_without_case: ["the same name of another tenant, or in other letters, is another incoming event"],
  names_never_pass: ["a name is known for its window after the last receipt, and is a new event's then"],
  window_from_the_first_receipt: [
    "a name is known for its window after the last receipt, and is a new event's then",
  ],
  every_name_renews: [
    "the window of a name that does not renew counts from its first receipt, however often it comes",
  ],
  window_shortened: ["a receipt never shortens a window, and a name without one is known for ever"],
  ingest_looks_then_stores: ["of incoming events that share a name and come at once, one is stored"],
  ingest_out_of_order: [
    "incoming events of the same moment are in the order of the calls, each with its own answer",
  ],
  names_always_forgotten_up_to_the_limit: [
    "names whose window has passed are forgotten up to the limit, and no others",
  ],
  names_never_forgotten: ["names whose window has passed are forgotten up to the limit, and no others"],
  names_forgotten_beyond_the_limit: [
    "names whose window has passed are forgotten up to the limit, and no others",
  ],
};

/** The same of finding them again. */
export const BROKEN_LOOKUPS: Readonly<Record<keyof typeof lookupFlaws, readonly string[]>> = {
  events_oldest_first: ["published events are listed newest first, page by page"],
  unknown_cursor_of_dead_letters_begins_anew: ["a cursor that no page of a list gave is refused"],
  unknown_cursor_of_lanes_begins_anew: ["a cursor that no page of events or lanes gave is refused"],
  events_without_pages: ["published events are listed newest first, page by page"],
  event_filter_ignores_the_tenant: ["published events are found by tenant, source, type and key"],
  event_filter_ignores_the_type: ["published events are found by tenant, source, type and key"],
  event_without_its_size: ["a published event is listed with everything but its bytes"],
  event_without_its_headers: ["an event is read with its bytes and headers, before and after its delivery"],
  event_of_any_tenant: ["no event is read that the tenant has not published"],
  delivery_always_waiting: [
    "a delivery says how it stands: waiting, under way, retrying, delivered",
    "a delivery without a lane says how it stands",
  ],
  delivery_without_its_place: [
    "a delivery says which event it is of, where it goes, and in which place",
    "a delivery without a lane says how it stands",
  ],
  delivery_without_its_error: ["a delivery says which event it is of, where it goes, and in which place"],
  delivery_always_due: [
    "a delivery behind another of its lane waits, and is not due",
    "what waits for an endpoint that is paused is not due",
  ],
  ended_lease_under_way: [
    "a delivery whose claim was not settled in time is no longer under way, and is due",
  ],
  run_under_way_at_its_head_only: ["every delivery of a run is under way, and none behind it"],
  delivery_without_its_end: [
    "a dead delivery says why, also when its lane has gone on",
    "a cancelled delivery says why",
  ],
  cancelled_called_dead: ["a cancelled delivery says why"],
  delivery_always_of_round_1: ["a delivery that is redriven in its place begins a new round there"],
  deliveries_of_one_endpoint: [
    "every delivery of an event is told, at each endpoint, and none of another event",
  ],
  deliveries_in_the_order_asked: [
    "deliveries of several events are told in the order in which they were sequenced",
  ],
  deliveries_before_their_places: [
    "no delivery is told of an event that has no places yet",
    "every delivery of an event is told, at each endpoint, and none of another event",
  ],
  delivery_of_any_id: ["a delivery is found by its id, and nothing by what is none"],
  old_place_forgotten: [
    "a delivery that is redriven at the end of its lane stays dead in its old place, and is told in the new one",
  ],
  removed_endpoint_forgotten: [
    "what became of the deliveries of an endpoint is told also when that was removed",
  ],
  lanes_newest_first: ["lanes in which something waits are listed in the order of their ids, page by page"],
  empty_lane_found: ["a lane in which nothing waits is not listed"],
  lanes_of_every_endpoint: ["lanes of one endpoint are listed where it is named"],
  lane_always_flowing: [
    "a lane says how it stands, and how much waits in it",
    "a lane whose head is dead is halted or parked, and one whose endpoint is stopped has its state",
  ],
  lane_without_depth: ["a lane says how it stands, and how much waits in it"],
  lane_never_blocked: ["a lane says how it stands, and how much waits in it"],
  census_counts_dead_heads: ["the census counts what waits, what is blocked and what is dead"],
  census_without_age: ["the census says how long the longest due delivery has been due"],
  census_without_stage: ["the census counts events that have no places yet"],
};

/** The same of removing what is old. */
export const BROKEN_RETENTION: Readonly<Record<keyof typeof retentionFlaws, readonly string[]>> = {
  removes_what_waits: [
    "an event stays while a delivery of it waits, is under way or is not due yet",
    "an event that waits for its retry stays, with its attempts",
    "nothing of a lane that is halted or parked goes, and it can be redriven",
  ],
  event_lost_beside_a_removal: ["an event that is published into a lane while it is removed is delivered"],
  removes_unresolved_dead_letters: [
    "a dead letter goes only after it was resolved and its own window has passed, and holds its event until then",
  ],
  removes_at_any_age: [
    "an event that is older than its window goes, with its attempts and its lane; a younger one stays",
    "what a removed endpoint leaves, dead letters too, goes after its windows",
  ],
  removes_nothing: [
    "an event that is older than its window goes, with its attempts and its lane; a younger one stays",
  ],
  removes_lanes_that_are_told_of: ["a lane of which something is told keeps its generation"],
  lane_comes_back_in_its_generation: [
    "a lane that is gone and comes back begins above its old sequences, in a higher generation",
    "a lane of a handler goes with its event, though the handler left no attempt, and comes back in a higher generation",
  ],
  lanes_of_handlers_stay: [
    "a lane of a handler goes with its event, though the handler left no attempt, and comes back in a higher generation",
  ],
  given_id_goes_with_its_event: [
    "an id that a publisher gave is known for its own window, also when its event is gone",
  ],
  given_id_known_for_ever: [
    "an id that a publisher gave is known for its own window, also when its event is gone",
  ],
  removal_without_a_limit: ["a step looks at no more than its limit, and says where the pass goes on"],
  cancelled_leaves_its_attempts: ["a cancelled delivery goes after its window, and is not told as delivered"],
  answers_stay: [
    "answers and attempts can go before their event, and what was delivered is not told as dead",
  ],
  removal_untold: ["retention tells what was removed and when a pass last reached its end"],
};

/** The same for what pages show of many rows at once. */
export const BROKEN_VIEWS: Readonly<Record<keyof typeof viewFlaws, readonly string[]>> = {
  standings_without_dead_heads: [
    "the standings count what waits at each endpoint, what is blocked, and for how long",
  ],
  standings_without_age: [
    "the standings count what waits at each endpoint, what is blocked, and for how long",
  ],
  standings_call_retrying_halted: [
    "the standings count what waits at each endpoint, what is blocked, and for how long",
  ],
  queue_from_one_end: ["a lane's queue is told from both ends, in order, and what is finished before it"],
  queue_forgets_what_is_finished: [
    "a lane's queue is told from both ends, in order, and what is finished before it",
  ],
  last_end_only: ["the ends of a delivery say how each round ended, and what became of it"],
  end_never_resolved: ["the ends of a delivery say how each round ended, and what became of it"],
  repeats_counted_once: [
    "duplicates and conflicts are counted by body, and their bytes kept where they are not the event's own",
  ],
  repeats_without_bytes: [
    "duplicates and conflicts are counted by body, and their bytes kept where they are not the event's own",
  ],
  repeats_of_any_tenant: [
    "duplicates and conflicts are counted by body, and their bytes kept where they are not the event's own",
  ],
  repeats_kept_for_ever: [
    "of one event only some bodies are kept, and those whose window has passed are forgotten",
  ],
  name_of_any_tenant: ["an event is found by the name under which it came, while its window lasts"],
  tenants_by_beginning: ["the tenants that have an event of an id are found, in the order of their names"],
  ids_of_any_tenant: ["event ids are found by how they begin, the last first, within a tenant"],
  ids_in_the_order_of_writing: ["event ids are found by how they begin, the last first, within a tenant"],
  origin_forgotten: ["an event says where it came from, and when it was written"],
  since_ignored: ["events of a span of time are those that were written in it, page by page"],
  until_ignored: ["events of a span of time are those that were written in it, page by page"],
};
