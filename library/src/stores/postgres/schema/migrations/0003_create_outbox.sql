-- Events as they will be sent. Published ones are written in the transactions of the host, and never changed. The
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
