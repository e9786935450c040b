// Written by scripts/build-migrations.ts from migrations/*.sql: change those, and run it.

/** The migrations of these tables, in order, for those who run them by tools of their own. */
export const MIGRATIONS = [
  {
    version: 1,
    name: "0001_create_inbox",
    sql: `-- Created only where it is missing: \`create schema if not exists\` wants the right to create schemas even where an
-- administrator has created this one.
do $$
begin
  if to_regnamespace('posthorn') is null then
    create schema posthorn;
  end if;
end
$$;

-- One row per event and consumer. Keys are compared byte by byte: a collation would make the index slower, and might
-- call two ids equal. Keys are stored as the sender wrote them, not hashed, so that time-ordered ids land side by side:
-- hashed ones cost 1.35 times as much at 5 million rows, and 4 times the WAL.
create table if not exists posthorn.inbox (
  tenant text collate "C" not null,
  source text collate "C" not null,
  event_id text collate "C" not null,
  -- Which handler; '' is the one that runs inside the receiver's transaction.
  consumer text collate "C" not null default '',
  -- 1, and one more with each replay: what a handler does once, it does once in each round.
  round integer not null default 1,
  -- The public id of the stored event that a worker has handled; null where it was handled within its request.
  stored_as text collate "C",
  id_preview text,
  type text not null,
  event_at timestamptz,
  outcome text not null constraint inbox_outcome
    check (outcome in ('success', 'skipped', 'failed', 'pending', 'held', 'dead', 'dropped')),
  attempts integer not null,
  receipts integer not null,
  received_at timestamptz not null,
  last_received_at timestamptz not null,
  -- Null: kept for ever, or until the event is applied.
  keep_until timestamptz,
  result text,
  error text,
  -- Null where a worker has handled the event: stored_as has both, once for all consumers, as long as retention keeps it.
  headers text,
  body_hash bytea not null,
  body bytea,
  -- Of an event that failed within its request: a redrive puts it among the events of its key.
  ordering_key text collate "C",
  constraint inbox_key primary key (tenant, source, event_id, consumer),
  -- A purge looks at the time alone: it would remove a failed event before its sender delivers it again, and the round of
  -- one that is to be replayed.
  constraint inbox_failed_is_kept check (outcome not in ('failed', 'pending') or keep_until is null)
) with (
  -- A handler's result is written to the row that its own transaction has inserted; with room on the page, the update
  -- leaves the indexes alone.
  fillfactor = 90,
  -- A purge leaves as many dead rows as a day brought new ones: the default waits until a fifth of the table is dead.
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05
);

-- What a purge may remove, oldest first. New rows are added at its right end.
create index if not exists inbox_keep_until on posthorn.inbox (keep_until) where keep_until is not null;

-- What people list. New rows are added at its right end.
create index if not exists inbox_received_at on posthorn.inbox (received_at);

-- What people look for, among millions that are well.
create index if not exists inbox_unwell on posthorn.inbox (outcome, received_at)
where outcome not in ('success', 'skipped');

-- Attempts that failed; the one that succeeded is the row of the inbox itself.
create table if not exists posthorn.inbox_attempt (
  tenant text collate "C" not null,
  source text collate "C" not null,
  event_id text collate "C" not null,
  consumer text collate "C" not null default '',
  round integer not null default 1,
  attempt integer not null,
  failed_at timestamptz not null,
  error text not null,
  -- The class of the error: failures of one cause have the same.
  fingerprint text,
  constraint inbox_attempt_key primary key (tenant, source, event_id, consumer, round, attempt)
);

-- Conflicts and stale events, apart from the inbox. One row per body: a sender that repeats one is counted.
create table if not exists posthorn.inbox_refused (
  tenant text collate "C" not null,
  source text collate "C" not null,
  event_id text collate "C" not null,
  because text not null constraint inbox_refused_because check (because in ('conflict', 'stale')),
  body_hash bytea not null,
  id_preview text,
  type text not null,
  event_at timestamptz,
  receipts integer not null,
  refused_at timestamptz not null,
  last_refused_at timestamptz not null,
  keep_until timestamptz,
  headers text not null,
  body bytea not null,
  ordering_key text collate "C",
  constraint inbox_refused_key primary key (tenant, source, event_id, because, body_hash)
);

create index if not exists inbox_refused_keep_until on posthorn.inbox_refused (keep_until)
where keep_until is not null;

-- The newest version of each resource that a handler has met: what is older is dropped, and what is equal, unless the same event
-- brought it. Kept for ever: a row that is forgotten lets an old event win.
create table if not exists posthorn.newest (
  -- As in the inbox.
  consumer text collate "C" not null,
  tenant text collate "C" not null,
  source text collate "C" not null,
  resource text collate "C" not null,
  -- Numbers and times are never compared with each other.
  kind text not null constraint newest_kind check (kind in ('number', 'time')),
  -- A time in milliseconds since 1970.
  version bigint not null,
  -- Which event brought it: its replay brings the same version, and is handled again.
  event_id text collate "C" not null,
  seen_at timestamptz not null,
  constraint newest_key primary key (consumer, tenant, source, resource)
) with (
  -- Every newer version updates its row; room on the page leaves the key's index alone.
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.02
);
`,
  },
  {
    version: 2,
    name: "0002_create_dedup",
    sql: `-- Ids that were seen, until they expire. The mark tells the writer of a row, when it lost the answer to its insert,
-- whether the row is its own.
create table if not exists posthorn.dedup (
  -- Ids of one scope know nothing of those of another.
  scope text collate "C" not null default '',
  id text collate "C" not null,
  expires_at timestamptz not null,
  mark bigint not null,
  constraint dedup_key primary key (scope, id)
) with (
  -- Expired ids are removed as new ones arrive: the default would let the table grow by a fifth before a vacuum.
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05
);

create index if not exists dedup_expires_at on posthorn.dedup (expires_at);
`,
  },
  {
    version: 3,
    name: "0003_create_outbox",
    sql: `-- Events as they will be sent. Published ones are written in the transactions of the host, and never changed. The
-- identity has no cache: with one, an event that was committed first could have the higher number.
create table if not exists posthorn.event (
  id bigint generated always as identity (cache 1),
  public_id text collate "C" not null,
  direction text not null default 'out' constraint event_direction check (direction in ('in', 'out')),
  tenant text collate "C" not null,
  source text collate "C" not null,
  type text collate "C" not null,
  key text collate "C",
  content_type text not null,
  -- Sent with the event, as JSON; null where it has none of its own.
  headers text,
  event_at timestamptz not null,
  -- This server's clock at the insert; event_at is the publisher's.
  written_at timestamptz not null default clock_timestamp(),
  deliver_at timestamptz,
  expires_at timestamptz,
  -- The id that the provider gave it.
  provider_id text,
  -- Which key verified its signature.
  verified_by text,
  -- The public id of the event that caused it.
  caused_by text,
  -- What its receiver knew of an event that it stored for handlers, as JSON; null where it goes to endpoints.
  receipt text,
  body bytea not null,
  -- What people filter by stands in the index that is there anyway: lists of events are filtered without the table, in
  -- a fifth of a second for a million of them. In batches, an insert costs the server 7.6 us; one more index for tenants
  -- or types adds 2.1 us to that, these columns nothing that can be measured.
  constraint event_key primary key (id) include (tenant, source, type, key)
) with (
  -- Retention leaves as many dead rows as new ones come: the default waits until a fifth of the table is dead.
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  toast.autovacuum_vacuum_scale_factor = 0.02
);

-- The one lookup that no other index answers: 1.9 us for each event. As a hash it costs as much.
create index if not exists event_public_id on posthorn.event (public_id);

-- Ids that a publisher gave, and expects to be published once. Generated ids are not here: no other event has them.
create table if not exists posthorn.outbox_key (
  tenant text collate "C" not null,
  public_id text collate "C" not null,
  -- Of type and body: the same id with another content is a conflict.
  content_hash bytea not null,
  -- Null: known for ever.
  keep_until timestamptz,
  constraint outbox_key_key primary key (tenant, public_id)
);

create index if not exists outbox_key_keep_until on posthorn.outbox_key (keep_until) where keep_until is not null;

-- Events that wait for their places in lanes. Rows are consumed, not passed by a cursor: a transaction that commits
-- late would be overtaken by the cursor, and its events would never be seen. By tenant first, so that tenants take turns:
-- in one queue for all, the events of a tenant that publishes much would stand before everybody else's.
create table if not exists posthorn.stage (
  tenant text collate "C" not null,
  id bigint generated always as identity (cache 1),
  event_id bigint not null,
  -- Of a redrive: the only consumer that it goes to, and its round.
  target_consumer_id bigint,
  round integer not null default 1,
  -- An event with many consumers is given its places in steps, in the order of their numbers: the last that has its place.
  after_consumer_id bigint,
  constraint stage_key primary key (tenant, id)
) with (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05
);

-- Events that are not to be delivered yet; they are moved to the stage when they are due.
create table if not exists posthorn.later (
  deliver_at timestamptz not null,
  event_id bigint not null,
  constraint later_key primary key (deliver_at, event_id)
);

-- How far the events of a key have come in the sequence of their sender, where their source holds back what comes before
-- its turn.
create table if not exists posthorn.hold (
  tenant text collate "C" not null,
  source text collate "C" not null,
  key text collate "C" not null,
  generation bigint not null,
  -- The highest sequence that was let go.
  last_seq bigint not null,
  seen_at timestamptz not null,
  constraint hold_key primary key (tenant, source, key)
) with (
  fillfactor = 80
);

-- Keys of which nothing has come for long are forgotten.
create index if not exists hold_seen_at on posthorn.hold (seen_at);

-- Events whose turn has not come. They go back to the stage when it has, or when they have waited for long enough.
create table if not exists posthorn.held (
  tenant text collate "C" not null,
  source text collate "C" not null,
  key text collate "C" not null,
  generation bigint not null,
  seq bigint not null,
  event_id bigint not null,
  -- Its number in the stage.
  stage_id bigint not null,
  until timestamptz not null,
  constraint held_key primary key (tenant, source, key, generation, seq, event_id)
);

create index if not exists held_until on posthorn.held (until);

-- Whether retention has to leave an event alone.
create index if not exists held_event on posthorn.held (event_id);

-- Places in the sequence of a key whose events were answered and are not stored: nobody waits for them. They go when
-- events of their key have passed them.
create table if not exists posthorn.filled (
  tenant text collate "C" not null,
  source text collate "C" not null,
  key text collate "C" not null,
  generation bigint not null,
  seq bigint not null,
  -- The sequence that has to come before it; null where the sequence starts with it.
  after_seq bigint,
  -- Whether the sequencer knows of it.
  judged boolean not null default false,
  filled_at timestamptz not null,
  constraint filled_key primary key (tenant, source, key, generation, seq)
);

-- Keys of which something that is held may go.
create index if not exists filled_new on posthorn.filled (tenant, source, key) where not judged;

create index if not exists filled_at on posthorn.filled (filled_at);

-- Events that could not be given their places, set aside so that they stop no other.
create table if not exists posthorn.stage_dead (
  id bigint not null,
  tenant text collate "C" not null,
  event_id bigint not null,
  target_consumer_id bigint,
  round integer not null,
  after_consumer_id bigint,
  error text not null,
  died_at timestamptz not null,
  resolved_at timestamptz,
  constraint stage_dead_key primary key (id)
);

create index if not exists stage_dead_listed on posthorn.stage_dead (id) where resolved_at is null;

-- Whether retention has to leave an event alone.
create index if not exists stage_dead_event on posthorn.stage_dead (event_id);

-- What retention may remove, oldest first.
create index if not exists stage_dead_resolved_at on posthorn.stage_dead (resolved_at) where resolved_at is not null;

-- What lanes lead to: endpoints, and handlers in the host's process. A consumer has a number, so that the rows that are
-- written most stay narrow. A removed one stays, because history speaks of it.
create table if not exists posthorn.consumer (
  id bigint generated always as identity (cache 1),
  public_id text collate "C" not null,
  kind text not null default 'endpoint' constraint consumer_kind check (kind in ('endpoint', 'handler')),
  tenant text collate "C" not null,
  -- An endpoint's address, secrets, patterns and retry policy, or a handler's patterns and versions, as JSON.
  definition text not null,
  ordered_by text not null constraint consumer_ordered_by check (ordered_by in ('key', 'endpoint', 'none')),
  dead text constraint consumer_dead check (dead in ('halt', 'skip', 'park')),
  -- A handler has none: each of its workers has slots of its own.
  max_in_flight integer constraint consumer_max_in_flight check (kind = 'handler' or max_in_flight is not null),
  state text not null constraint consumer_state check (state in ('active', 'paused', 'disabled')),
  because text,
  version bigint not null,
  -- Random, and another one with each change. Versions are counted, and counted again after a failover that lost some of
  -- them: a process that remembers a lost one would send to an address that nobody has confirmed.
  mark uuid not null default gen_random_uuid(),
  -- Since when it is not active.
  stopped_at timestamptz,
  -- When its pause ends by itself; null: an operator ends it.
  paused_until timestamptz,
  -- Of a pause: the person; null: a rule for errors.
  paused_by text,
  -- Of a handler: when a worker last said that it has it.
  seen_at timestamptz,
  removed_at timestamptz,
  -- Consumers are removed a part at a time; null while something of a removed one is left.
  cleared_at timestamptz,
  constraint consumer_key primary key (id)
);

create unique index if not exists consumer_public_id on posthorn.consumer (public_id) where removed_at is null;

-- What is still to be cancelled; almost always nothing.
create index if not exists consumer_uncleared on posthorn.consumer (id)
where removed_at is not null and cleared_at is null;

create index if not exists consumer_tenant on posthorn.consumer (tenant, public_id) where removed_at is null;

create table if not exists posthorn.outbox_config (
  one boolean not null default true constraint outbox_config_one check (one),
  -- Random, and another one whenever events may go elsewhere than before: a process that knows another one reads the
  -- consumers again. Not a number: after a failover that lost commits, a number would be given again.
  mark uuid not null default gen_random_uuid(),
  -- Of lanes that are created from now on. It grows whenever lanes are removed, so that a lane which is created again has
  -- a higher one: sequences compare only within a generation.
  generation bigint not null default 1,
  -- While handlers have sources that none had before: what was set aside for want of one, and comes from these (patterns, as
  -- JSON), is staged in steps. Up to this number of the stage that is done; null: there is nothing to be staged.
  unclaimed_after bigint,
  unclaimed_sources text,
  constraint outbox_config_key primary key (one)
);

insert into posthorn.outbox_config (one) values (true) on conflict (one) do nothing;

-- The latest time that anybody has seen, to the second; a clock that stands before it was set back. Apart from
-- outbox_config, whose row is locked for as long as a change of consumers takes.
create table if not exists posthorn.seen_time (
  one boolean not null default true constraint seen_time_one check (one),
  seen_at timestamptz not null default clock_timestamp(),
  constraint seen_time_key primary key (one)
);

insert into posthorn.seen_time (one) values (true) on conflict (one) do nothing;

-- How far the removal of old records is, by what is removed.
create table if not exists posthorn.retention (
  kind text not null,
  -- Attempts and answers are looked at once, when their event is old enough: up to this event.
  up_to bigint not null default 0,
  removed bigint not null default 0,
  -- When a pass last reached its end.
  passed_at timestamptz,
  constraint retention_key primary key (kind)
);
`,
  },
  {
    version: 4,
    name: "0004_create_lanes",
    sql: `-- Which lanes there are.
create table if not exists posthorn.lane (
  lane_id bigint generated always as identity (cache 1),
  consumer_id bigint not null,
  -- Of a handler's lane; an endpoint's lanes leave both ''.
  tenant text collate "C" not null default '',
  source text collate "C" not null default '',
  key text collate "C" not null,
  generation bigint not null,
  constraint lane_key primary key (lane_id),
  constraint lane_name unique (consumer_id, tenant, source, key)
);

-- How each lane stands: apart from what it is, because every delivery changes it. It holds the sequences from head_seq
-- up to next_seq. While it is leased, ready_at is the lease's end, so that a claim finds a lapsed lane like any due one.
create table if not exists posthorn.lane_state (
  lane_id bigint not null,
  consumer_id bigint not null,
  next_seq bigint not null,
  head_seq bigint not null,
  -- The last sequence before the head that was not skipped.
  last_seq bigint,
  ready_at timestamptz,
  leased_at timestamptz,
  leased_until timestamptz,
  blocked_at timestamptz,
  epoch bigint not null default 0,
  suspect_until bigint,
  attempts integer not null default 0,
  failures integer not null default 0,
  lapses smallint not null default 0,
  run_len smallint not null default 0,
  state text not null default 'flowing'
    constraint lane_state_state check (state in ('flowing', 'halted', 'parked')),
  intent text constraint lane_state_intent check (intent = 'skip'),
  leased_by text,
  -- The same as ready_at while the lane is brief. A column of its own: a condition on the sequences in an index would let
  -- every new delivery write all indexes of its lane, and a plan for empty tables could take the index of all lanes.
  brief_at timestamptz generated always as (case when next_seq - head_seq <= 8 then ready_at end) stored,
  constraint lane_state_key primary key (lane_id)
) with (
  -- Room on the page lets an update that changes no indexed column leave the indexes alone.
  fillfactor = 60,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);

-- By consumer first: a consumer that is paused or full, with a million due lanes, would stand before all others in an
-- index of times alone.
create index if not exists lane_state_ready on posthorn.lane_state (consumer_id, ready_at)
where ready_at is not null;

-- Brief lanes again: who has little waiting is found past any number of consumers whose backlogs are longer.
create index if not exists lane_state_brief on posthorn.lane_state (consumer_id, brief_at)
where brief_at is not null;

-- Lanes that have lapsed so often that they are claimed alone; almost always empty.
create index if not exists lane_state_alone on posthorn.lane_state (ready_at) where lapses >= 3;

-- Lanes whose head has failed, longest blocked first.
create index if not exists lane_state_blocked on posthorn.lane_state (blocked_at, lane_id)
where blocked_at is not null;

-- What a worker holds, for \`release\`. A claim writes every index in any case, because it moves ready_at: measured, this
-- one adds 3 % to the updates of a claim and its settlement.
create index if not exists lane_state_leased on posthorn.lane_state (leased_by) where leased_by is not null;

-- One event in one lane, until it is delivered or passed over.
create table if not exists posthorn.delivery (
  lane_id bigint not null,
  seq bigint not null,
  event_id bigint not null,
  round integer not null,
  constraint delivery_key primary key (lane_id, seq)
) with (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05
);

-- Where an event waits: 1.6 us more than the 6.3 us of a delivery.
create index if not exists delivery_event on posthorn.delivery (event_id);

create table if not exists posthorn.attempt (
  lane_id bigint not null,
  seq bigint not null,
  round integer not null,
  no integer not null,
  event_id bigint not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  outcome text not null,
  status integer,
  error text,
  -- The class of the error: failures of one cause have the same.
  fingerprint text,
  url text,
  -- The address that the name of the url stood for.
  address text,
  -- As sent, as JSON.
  request_headers text,
  -- How long each step took, as JSON.
  timings text,
  answer bytea,
  constraint attempt_key primary key (lane_id, seq, round, no)
) with (
  -- Retention leaves as many dead rows as new ones come: the default waits until a fifth of the table is dead.
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  toast.autovacuum_vacuum_scale_factor = 0.02
);

-- What was tried, by event: 1.7 us more than the 7.5 us of an attempt. Every delivery has a first one in each round, so
-- retries cost nothing here. A BRIN index costs nothing at all, but attempts of one event lie wherever its retries fell:
-- where an endpoint was down for a day, most of the table would be read.
create index if not exists attempt_event on posthorn.attempt (event_id) where no = 1;

-- Deliveries of events that have no key: a lane for each would cost half as much again.
create table if not exists posthorn.loose_delivery (
  id bigint generated always as identity (cache 1),
  consumer_id bigint not null,
  event_id bigint not null,
  -- Null when it is dead.
  ready_at timestamptz,
  leased_at timestamptz,
  leased_until timestamptz,
  epoch bigint not null default 0,
  round integer not null,
  attempts integer not null default 0,
  failures integer not null default 0,
  lapses smallint not null default 0,
  leased_by text,
  constraint loose_delivery_key primary key (id)
) with (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);

-- With the event, so that what waits for one is found among all that waits for the consumer without the table. An index
-- by event adds 4.6 us to the 18.6 us of a loose delivery, whose every claim writes all indexes.
create index if not exists loose_delivery_ready on posthorn.loose_delivery (consumer_id, ready_at)
include (event_id, id) where ready_at is not null;

create index if not exists loose_delivery_alone on posthorn.loose_delivery (ready_at) where lapses >= 3;

create index if not exists loose_delivery_leased on posthorn.loose_delivery (leased_by) where leased_by is not null;

create table if not exists posthorn.loose_attempt (
  delivery_id bigint not null,
  round integer not null,
  no integer not null,
  event_id bigint not null,
  -- A loose delivery is gone when it was delivered; its attempts have to tell where it went.
  consumer_id bigint not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  outcome text not null,
  status integer,
  error text,
  fingerprint text,
  url text,
  address text,
  request_headers text,
  timings text,
  answer bytea,
  constraint loose_attempt_key primary key (delivery_id, round, no)
) with (
  -- Retention leaves as many dead rows as new ones come: the default waits until a fifth of the table is dead.
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  toast.autovacuum_vacuum_scale_factor = 0.02
);

create index if not exists loose_attempt_event on posthorn.loose_attempt (event_id) where no = 1;

-- Deliveries that were given up, of a lane or loose. They are listed until somebody resolves them.
create table if not exists posthorn.dead (
  id bigint generated always as identity (cache 1),
  consumer_id bigint not null,
  lane_id bigint,
  seq bigint,
  loose_id bigint,
  event_id bigint not null,
  round integer not null,
  because text not null,
  attempts integer not null,
  last_status integer,
  last_error text,
  died_at timestamptz not null,
  resolved_at timestamptz,
  resolved_how text constraint dead_resolved_how
    check (resolved_how in ('redriven', 'skipped', 'cancelled', 'forgotten')),
  constraint dead_key primary key (id),
  constraint dead_place check ((lane_id is null) = (seq is null) and (lane_id is null) <> (loose_id is null)),
  constraint dead_resolved check ((resolved_at is null) = (resolved_how is null))
);

create unique index if not exists dead_lane on posthorn.dead (lane_id, seq, round) where lane_id is not null;

create unique index if not exists dead_loose on posthorn.dead (loose_id, round) where loose_id is not null;

create index if not exists dead_listed on posthorn.dead (died_at, id) where resolved_at is null;

-- Those that died alike, in the order in which they died: whatever part of a group's name is asked for, its groups are
-- few, and each is read in order.
create index if not exists dead_alike
on posthorn.dead (consumer_id, because, (coalesce(last_status, 0)), (coalesce(last_error, '')), died_at, id)
where resolved_at is null;

-- How many dead letters of each kind are listed: the sum of both tables. Every change is a row of its own, so that
-- settlements never wait for each other's counts; whoever reads them folds the changes into the groups.
create table if not exists posthorn.dead_group (
  consumer_id bigint not null,
  because text not null,
  -- 0 and '' where there was none.
  status integer not null,
  error text not null,
  count bigint not null,
  constraint dead_group_key primary key (consumer_id, because, status, error)
);

create table if not exists posthorn.dead_change (
  id bigint generated always as identity (cache 1),
  consumer_id bigint not null,
  because text not null,
  status integer not null,
  error text not null,
  change bigint not null,
  constraint dead_change_key primary key (id)
) with (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05
);

-- By triggers, with the rows that change: a verb that forgot to count would be wrong for ever.
create or replace function posthorn.count_dead_added() returns trigger language plpgsql as $$
begin
  insert into posthorn.dead_change (consumer_id, because, status, error, change)
  select consumer_id, because, coalesce(last_status, 0), coalesce(last_error, ''), count(*)
  from added where resolved_at is null group by 1, 2, 3, 4;
  return null;
end $$;

create or replace function posthorn.count_dead_changed() returns trigger language plpgsql as $$
begin
  insert into posthorn.dead_change (consumer_id, because, status, error, change)
  select consumer_id, because, status, error, sum(change) from (
    select consumer_id, because, coalesce(last_status, 0), coalesce(last_error, ''), 1
    from added where resolved_at is null
    union all
    select consumer_id, because, coalesce(last_status, 0), coalesce(last_error, ''), -1
    from removed where resolved_at is null
  ) as changed (consumer_id, because, status, error, change)
  group by 1, 2, 3, 4 having sum(change) <> 0;
  return null;
end $$;

create or replace function posthorn.count_dead_removed() returns trigger language plpgsql as $$
begin
  insert into posthorn.dead_change (consumer_id, because, status, error, change)
  select consumer_id, because, coalesce(last_status, 0), coalesce(last_error, ''), -count(*)
  from removed where resolved_at is null group by 1, 2, 3, 4;
  return null;
end $$;

create or replace trigger dead_added after insert on posthorn.dead
referencing new table as added for each statement execute function posthorn.count_dead_added();

create or replace trigger dead_changed after update on posthorn.dead
referencing old table as removed new table as added for each statement execute function posthorn.count_dead_changed();

create or replace trigger dead_removed after delete on posthorn.dead
referencing old table as removed for each statement execute function posthorn.count_dead_removed();

-- Those of a consumer that is removed are resolved.
create index if not exists dead_consumer on posthorn.dead (consumer_id) where resolved_at is null;

create index if not exists dead_event on posthorn.dead (event_id);

-- What retention may remove, oldest first.
create index if not exists dead_resolved_at on posthorn.dead (resolved_at) where resolved_at is not null;

-- Deliveries that will not be made: they had expired, were skipped, or their consumer was removed.
create table if not exists posthorn.cancelled (
  id bigint generated always as identity (cache 1),
  consumer_id bigint not null,
  lane_id bigint,
  seq bigint,
  loose_id bigint,
  event_id bigint not null,
  round integer not null,
  because text not null,
  cancelled_at timestamptz not null,
  constraint cancelled_key primary key (id)
);

create index if not exists cancelled_event on posthorn.cancelled (event_id);

create index if not exists cancelled_lane on posthorn.cancelled (lane_id, seq) where lane_id is not null;

create index if not exists cancelled_loose on posthorn.cancelled (loose_id) where loose_id is not null;

-- What retention may remove, oldest first.
create index if not exists cancelled_cancelled_at on posthorn.cancelled (cancelled_at);

-- The settlement of a handler's claim: the last statement of the host's own transaction, in one message with its commit.
-- A function, because each of its statements takes a snapshot of its own: a delivery that was sequenced while the lane's
-- lock was waited for is seen and leased. Its settings end with it, so that the host's stay. What it writes is what
-- \`acknowledged\` of lanes/lane.ts says; whether something waits behind, and whether it may be leased as a run, is
-- arithmetic on the locked row. Where nothing waits behind, it may lease another due lane of the consumer, so that the
-- worker needs no claim for it: the one that has waited longest, if its head was never tried and nobody has held it since
-- (what else a lane can be, \`claimed\` of lanes/lane.ts decides, in a claim). It never waits for that lane's lock.
-- Its name has a version: one that is replaced while another process runs it fails there.
-- PH001: the claim has passed to another. PH002: this is not the transaction in which the handler was begun.
create or replace function posthorn.settle_1(
  p_kind text, p_id bigint, p_epoch bigint, p_head bigint, p_count integer, p_worker text, p_xid text,
  p_raise bigint, p_other boolean, p_lease_ms double precision, p_max_events integer, p_max_body integer
) returns table (
  lane_id bigint, generation bigint, key text, epoch bigint, head_seq bigint, last_seq bigint,
  seq bigint, round integer, public_id text, tenant text, source text, type text, content_type text,
  event_at timestamptz, expires_at timestamptz, headers text, receipt text, body bytea
) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  held record;
  other record;
  v_head bigint := p_head + p_count;
  v_run bigint := 0;
  v_active boolean := false;
  v_at timestamptz;
  v_until timestamptz;
begin
  -- Null where no handler ran: the event was applied before.
  if p_xid is not null and p_xid is distinct from pg_current_xact_id_if_assigned()::text then
    raise exception 'the handler was begun in transaction %, and this is %', p_xid, pg_current_xact_id_if_assigned()::text
    using errcode = 'PH002';
  end if;
  -- Deferred constraints lock rows of the host at the commit, after the lane: in 15 s that made 16 deadlocks.
  set constraints all immediate;
  if p_kind = 'loose' then
    delete from posthorn.loose_delivery as loose
    where loose.id = p_id and loose.epoch = p_epoch and loose.leased_by = p_worker;
    if not found then
      raise exception 'the claim has passed to another' using errcode = 'PH001';
    end if;
    return;
  end if;
  select state.epoch, state.head_seq, state.next_seq, state.leased_by, state.suspect_until, state.consumer_id
  into held from posthorn.lane_state as state where state.lane_id = p_id for update;
  if not found or held.epoch <> p_epoch or held.head_seq <> p_head or held.leased_by is distinct from p_worker then
    raise exception 'the claim has passed to another' using errcode = 'PH001';
  end if;
  if p_raise is not null and (p_other or held.next_seq > v_head) then
    v_active := (
      select consumer.removed_at is null
        and (consumer.state = 'active' or consumer.state = 'paused' and consumer.paused_until <= clock_timestamp())
      from posthorn.consumer as consumer
      where consumer.id = held.consumer_id
    );
  end if;
  if v_active and held.next_seq > v_head then
    v_run := case when v_head < held.suspect_until then 1 else least(p_max_events, held.next_seq - v_head) end;
  end if;
  v_at := clock_timestamp();
  v_until := v_at + make_interval(secs => p_lease_ms / 1000);
  update posthorn.lane_state as state set
    head_seq = v_head, last_seq = v_head - 1, state = 'flowing', attempts = 0, failures = 0, lapses = 0, intent = null,
    blocked_at = null, run_len = v_run, epoch = case when v_run > 0 then state.epoch + p_raise else state.epoch end,
    leased_by = case when v_run > 0 then p_worker end, leased_at = case when v_run > 0 then v_at end,
    leased_until = case when v_run > 0 then v_until end,
    ready_at = case when v_run > 0 then v_until when held.next_seq > v_head then v_at end
  where state.lane_id = p_id;
  delete from posthorn.delivery as delivery
  where delivery.lane_id = p_id and delivery.seq >= p_head and delivery.seq < v_head;
  if v_run > 0 then
    return query
    select p_id, null::bigint, null::text, p_epoch + p_raise, v_head, v_head - 1,
      delivery.seq, delivery.round, event.public_id, event.tenant, event.source, event.type, event.content_type,
      event.event_at, event.expires_at, event.headers, event.receipt,
      case when delivery.seq = v_head or octet_length(event.body) <= p_max_body then event.body end
    from posthorn.delivery as delivery join posthorn.event as event on event.id = delivery.event_id
    where delivery.lane_id = p_id and delivery.seq >= v_head and delivery.seq < v_head + v_run
    order by delivery.seq;
  elsif v_active and p_other then
    -- Only the first is looked at: a thousand due lanes whose heads have failed would be read by every settlement.
    select state.lane_id, state.epoch, state.head_seq, state.last_seq,
      case when state.head_seq < state.suspect_until then 1 else least(p_max_events, state.next_seq - state.head_seq) end as run,
      state.state = 'flowing' and state.leased_by is null and state.intent is null
        and state.attempts = 0 and state.lapses = 0 as is_plain
    into other from posthorn.lane_state as state
    where state.consumer_id = held.consumer_id and state.ready_at <= v_at and state.lapses < 3
    order by state.ready_at limit 1 for update skip locked;
    if found and other.is_plain then
      update posthorn.lane_state as state set
        epoch = other.epoch + p_raise, run_len = other.run, leased_by = p_worker, leased_at = v_at,
        leased_until = v_until, ready_at = v_until
      where state.lane_id = other.lane_id;
      return query
      select other.lane_id, lane.generation, lane.key, other.epoch + p_raise, other.head_seq, other.last_seq,
        delivery.seq, delivery.round, event.public_id, event.tenant, event.source, event.type, event.content_type,
        event.event_at, event.expires_at, event.headers, event.receipt,
        case when delivery.seq = other.head_seq or octet_length(event.body) <= p_max_body then event.body end
      from posthorn.lane as lane
      join posthorn.delivery as delivery on delivery.lane_id = lane.lane_id
        and delivery.seq >= other.head_seq and delivery.seq < other.head_seq + other.run
      join posthorn.event as event on event.id = delivery.event_id
      where lane.lane_id = other.lane_id
      order by delivery.seq;
    end if;
  end if;
end $$;
`,
  },
  {
    version: 5,
    name: "0005_create_ingest",
    sql: `-- Names under which events came from elsewhere: the id that their sender gave, or a hash of their content.
create table if not exists posthorn.ingest_name (
  tenant text collate "C" not null,
  name text collate "C" not null,
  -- The public id of the event that came first under it.
  event_id text collate "C" not null,
  -- Null: another body is no conflict.
  body_hash bytea,
  -- Null: known for ever.
  keep_until timestamptz,
  constraint ingest_name_key primary key (tenant, name)
) with (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05
);

-- What may be forgotten, oldest first. New names are added at its right end.
create index if not exists ingest_name_keep_until on posthorn.ingest_name (keep_until) where keep_until is not null;

-- Duplicates and conflicts of events that were taken in. One row per body: a sender that repeats one is counted.
create table if not exists posthorn.ingest_repeat (
  id bigint generated always as identity (cache 1),
  tenant text collate "C" not null,
  -- The public id of the event that came first.
  event_id text collate "C" not null,
  kind text not null constraint ingest_repeat_kind check (kind in ('duplicate', 'conflict')),
  receipts integer not null,
  received_at timestamptz not null,
  last_received_at timestamptz not null,
  headers text not null,
  body_hash bytea not null,
  -- Null where it equals the stored event's.
  body bytea,
  keep_until timestamptz,
  constraint ingest_repeat_key primary key (id),
  constraint ingest_repeat_body unique (tenant, event_id, kind, body_hash)
);

create index if not exists ingest_repeat_keep_until on posthorn.ingest_repeat (keep_until)
where keep_until is not null;
`,
  },
  {
    version: 6,
    name: "0006_create_repair",
    sql: `-- How far the log of a provider has been read, by the name of its repair.
create table if not exists posthorn.repair_cursor (
  name text collate "C" not null,
  cursor text not null,
  -- For people: when the last run ended.
  written_at timestamptz not null default now(),
  constraint repair_cursor_key primary key (name)
);
`,
  },
  {
    version: 7,
    name: "0007_create_step",
    sql: `-- Steps of long handlers, with what they came to: a handler that runs again does not do them again.
create table if not exists posthorn.step (
  tenant text collate "C" not null,
  source text collate "C" not null,
  event_id text collate "C" not null,
  consumer text collate "C" not null,
  -- Of the inbox: another round does its steps anew.
  round integer not null,
  step text collate "C" not null,
  -- The public id of the stored event, with which it is removed.
  stored_as text collate "C" not null,
  tries integer not null default 1,
  begun_at timestamptz not null default clock_timestamp(),
  -- Null: begun, and nobody knows what came of it.
  finished_at timestamptz,
  -- As JSON.
  result text,
  constraint step_key primary key (tenant, source, event_id, consumer, round, step)
);

create index if not exists step_stored_as on posthorn.step (stored_as);
`,
  },
] as const;
