-- Published events, as they will be sent. Written in the transactions of the host, and never changed. The identity has
-- no cache: with one, an event that was committed first could have the higher number.
create table if not exists posthorn.event (
  id bigint generated always as identity (cache 1),
  public_id text collate "C" not null,
  tenant text collate "C" not null,
  source text collate "C" not null,
  type text collate "C" not null,
  key text collate "C",
  content_type text not null,
  event_at timestamptz not null,
  deliver_at timestamptz,
  expires_at timestamptz,
  body bytea not null,
  constraint event_key primary key (id)
) with (autovacuum_vacuum_insert_scale_factor = 0.05);

-- Ids that a publisher gave, and expects to be published once. Generated ids are not here: they meet nobody.
create table if not exists posthorn.outbox_key (
  tenant text collate "C" not null,
  public_id text collate "C" not null,
  body_hash bytea not null,
  constraint outbox_key_key primary key (tenant, public_id)
);

-- Events that wait for their places in lanes. Rows are consumed, not passed by a cursor: a transaction that commits
-- late would be overtaken by the cursor, and its events would never be seen.
create table if not exists posthorn.stage (
  id bigint generated always as identity (cache 1),
  event_id bigint not null,
  -- Of a redrive: where alone it goes, and in which round.
  target_endpoint_id bigint,
  round integer not null default 1,
  constraint stage_key primary key (id)
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

-- What could not be given its places, set aside so that it stops no other.
create table if not exists posthorn.stage_dead (
  id bigint not null,
  event_id bigint not null,
  target_endpoint_id bigint,
  round integer not null,
  error text not null,
  died_at timestamptz not null,
  constraint stage_dead_key primary key (id)
);

-- Endpoints have a number of their own, so that the rows that are written most stay narrow. One that was removed
-- stays, because history speaks of it.
create table if not exists posthorn.endpoint (
  id bigint generated always as identity (cache 1),
  public_id text collate "C" not null,
  tenant text collate "C" not null,
  -- Its address, secrets, patterns and retry policy, as JSON.
  definition text not null,
  ordered_by text not null constraint endpoint_ordered_by check (ordered_by in ('key', 'endpoint', 'none')),
  dead text constraint endpoint_dead check (dead in ('halt', 'skip', 'park')),
  max_in_flight integer not null,
  state text not null constraint endpoint_state check (state in ('active', 'paused', 'disabled')),
  because text,
  version bigint not null,
  -- Since when it is not active.
  stopped_at timestamptz,
  removed_at timestamptz,
  constraint endpoint_key primary key (id)
);

create unique index if not exists endpoint_public_id on posthorn.endpoint (public_id) where removed_at is null;

-- Grows when events may go elsewhere than before: whoever knows an older one reads the endpoints again.
create table if not exists posthorn.outbox_config (
  one boolean not null default true constraint outbox_config_one check (one),
  version bigint not null,
  constraint outbox_config_key primary key (one)
);

insert into posthorn.outbox_config (version) values (1) on conflict (one) do nothing;

-- Which lanes there are.
create table if not exists posthorn.lane (
  lane_id bigint generated always as identity (cache 1),
  endpoint_id bigint not null,
  key text collate "C" not null,
  generation bigint not null default 1,
  constraint lane_key primary key (lane_id),
  constraint lane_name unique (endpoint_id, key)
);

-- How each lane stands: apart from what it is, because every delivery changes it. It holds the sequences from head_seq
-- up to next_seq. While it is leased, ready_at is the lease's end, so that one that has ended is found like any due one.
create table if not exists posthorn.lane_state (
  lane_id bigint not null,
  endpoint_id bigint not null,
  next_seq bigint not null,
  head_seq bigint not null,
  -- The last one before the head that was not skipped.
  last_seq bigint,
  ready_at timestamptz,
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
  constraint lane_state_key primary key (lane_id)
) with (
  -- Room on the page lets an update that changes no indexed column leave the indexes alone.
  fillfactor = 60,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);

-- By endpoint first: one that is paused or full, with a million due lanes, would stand before all others in an index
-- of times alone.
create index if not exists lane_state_ready on posthorn.lane_state (endpoint_id, ready_at)
where ready_at is not null;

-- What has lapsed so often that it is claimed alone; almost always empty.
create index if not exists lane_state_alone on posthorn.lane_state (ready_at) where lapses >= 3;

-- Lanes whose head has failed, longest blocked first.
create index if not exists lane_state_blocked on posthorn.lane_state (blocked_at, lane_id)
where blocked_at is not null;

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
  answer bytea,
  constraint attempt_key primary key (lane_id, seq, round, no)
) with (autovacuum_vacuum_insert_scale_factor = 0.05);

-- Deliveries of events that have no key: a lane for each would cost half as much again.
create table if not exists posthorn.loose_delivery (
  id bigint generated always as identity (cache 1),
  endpoint_id bigint not null,
  event_id bigint not null,
  -- Null when it is dead.
  ready_at timestamptz,
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

create index if not exists loose_delivery_ready on posthorn.loose_delivery (endpoint_id, ready_at)
where ready_at is not null;

create index if not exists loose_delivery_alone on posthorn.loose_delivery (ready_at) where lapses >= 3;

create table if not exists posthorn.loose_attempt (
  delivery_id bigint not null,
  round integer not null,
  no integer not null,
  event_id bigint not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  outcome text not null,
  status integer,
  error text,
  answer bytea,
  constraint loose_attempt_key primary key (delivery_id, round, no)
) with (autovacuum_vacuum_insert_scale_factor = 0.05);

-- Deliveries that were given up, until they are redriven. Of a lane, or loose.
create table if not exists posthorn.dead (
  id bigint generated always as identity (cache 1),
  endpoint_id bigint not null,
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
  redriven_at timestamptz,
  constraint dead_key primary key (id),
  constraint dead_place check ((lane_id is null) = (seq is null) and (lane_id is null) <> (loose_id is null))
);

create unique index if not exists dead_lane on posthorn.dead (lane_id, seq, round) where lane_id is not null;

create unique index if not exists dead_loose on posthorn.dead (loose_id, round) where loose_id is not null;

create index if not exists dead_listed on posthorn.dead (id) where redriven_at is null;

-- Deliveries that will not be made: they had expired, were skipped, or their endpoint was removed.
create table if not exists posthorn.cancelled (
  id bigint generated always as identity (cache 1),
  endpoint_id bigint not null,
  lane_id bigint,
  seq bigint,
  loose_id bigint,
  event_id bigint not null,
  round integer not null,
  because text not null,
  cancelled_at timestamptz not null,
  constraint cancelled_key primary key (id)
);
