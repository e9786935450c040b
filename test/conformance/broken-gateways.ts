import type { ingestFlaws } from "./outbox-flaws/ingest.js";
import type { lookupFlaws } from "./outbox-flaws/lookups.js";

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
