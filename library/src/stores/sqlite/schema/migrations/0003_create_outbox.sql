-- Published events, as they will be sent. Numbers are never given twice: a lane that is created again starts at its
-- first event's number, and must not start below a sequence that it had before. The body comes last, so that SQLite
-- reads the columns before it without the pages of the body.
create table if not exists posthorn_event (
  id integer primary key autoincrement,
  public_id text not null,
  tenant text not null,
  source text not null,
  type text not null,
  key text,
  content_type text not null,
  event_at integer not null,
  deliver_at integer,
  expires_at integer,
  -- The store's clock at the insert.
  written_at integer not null,
  direction text not null default 'out' check (direction in ('in', 'out')),
  -- The id that the provider gave to the event.
  provider_id text,
  -- Which key verified the event.
  verified_by text,
  -- The public id of the event that caused this one.
  caused_by text,
  -- Headers that are sent with the event, as JSON; null where it has none of its own.
  headers text,
  -- What its receiver knew of an event that it stored for handlers, as JSON; null where it goes to endpoints.
  receipt text,
  body blob not null
) strict;

create index if not exists posthorn_event_public_id on posthorn_event (public_id);

-- An operator looks for the events of one key. Events of a type or a source are found by reading on, a little at a time.
create index if not exists posthorn_event_key on posthorn_event (tenant, key) where key is not null;

-- Ids that publishers gave: a second event of one of them is not sent. Generated ids are not here: they meet nobody.
create table if not exists posthorn_outbox_key (
  tenant text not null,
  public_id text not null,
  -- Of type and body: another hash under the same id is a conflict.
  content_hash blob not null,
  -- Null: known for ever.
  keep_until integer,
  primary key (tenant, public_id)
) strict, without rowid;

create index if not exists posthorn_outbox_key_keep_until on posthorn_outbox_key (keep_until)
where keep_until is not null;

-- Events that are not to be delivered yet; they take their places in lanes when they are due.
create table if not exists posthorn_later (
  deliver_at integer not null,
  event integer not null,
  primary key (deliver_at, event)
) strict, without rowid;

-- Events that wait for their places: those that were due later, and those that had too many places, or came behind such a
-- one of their tenant. Most events are given their places as they are written, and never stand here. Numbers are never
-- given twice: the order of a tenant's rows is the order of its lanes.
create table if not exists posthorn_stage (
  id integer primary key autoincrement,
  tenant text not null,
  event integer not null,
  -- An event with many consumers is given its places in steps, in the order of their numbers: the last that has its place.
  after_consumer integer
) strict;

-- Tenants take turns.
create index if not exists posthorn_stage_tenant on posthorn_stage (tenant, id);

-- How far the events of a key have come in the sequence of their sender, where their source holds back what comes before
-- its turn.
create table if not exists posthorn_hold (
  tenant text not null,
  source text not null,
  key text not null,
  generation integer not null,
  -- The highest sequence that was let go.
  last_seq integer not null,
  seen_at integer not null,
  primary key (tenant, source, key)
) strict, without rowid;

-- Keys of which nothing has come for long are forgotten.
create index if not exists posthorn_hold_seen_at on posthorn_hold (seen_at);

-- Events whose turn has not come. They go back to the stage when it has, or when they have waited for long enough.
create table if not exists posthorn_held (
  tenant text not null,
  source text not null,
  key text not null,
  generation integer not null,
  seq integer not null,
  event integer not null,
  -- Its number in the stage.
  stage integer not null,
  until integer not null,
  primary key (tenant, source, key, generation, seq, event)
) strict, without rowid;

create index if not exists posthorn_held_until on posthorn_held (until);

-- Whether retention has to leave an event alone.
create index if not exists posthorn_held_event on posthorn_held (event);

-- Places in the sequence of a key whose events were answered and are not stored: nobody waits for them. They go when
-- events of their key have passed them.
create table if not exists posthorn_filled (
  tenant text not null,
  source text not null,
  key text not null,
  generation integer not null,
  seq integer not null,
  -- The sequence that has to come before it; null where the sequence starts with it.
  after_seq integer,
  -- Whether the sequencer knows of it.
  judged integer not null default 0,
  filled_at integer not null,
  primary key (tenant, source, key, generation, seq)
) strict, without rowid;

-- Keys of which something that is held may go.
create index if not exists posthorn_filled_new on posthorn_filled (judged, tenant, source, key) where judged = 0;

create index if not exists posthorn_filled_at on posthorn_filled (filled_at);

-- Events that could not be given their places, set aside so that they stop no other.
create table if not exists posthorn_stage_dead (
  id integer primary key autoincrement,
  -- Its number in the stage.
  stage integer not null,
  tenant text not null,
  event integer not null,
  after_consumer integer,
  error text not null,
  died_at integer not null,
  resolved_at integer
) strict;

-- Whether retention has to leave an event alone.
create index if not exists posthorn_stage_event on posthorn_stage (event);

create index if not exists posthorn_stage_dead_event on posthorn_stage_dead (event);

create index if not exists posthorn_stage_dead_listed on posthorn_stage_dead (id) where resolved_at is null;

-- Retention removes the longest resolved first.
create index if not exists posthorn_stage_dead_resolved_at on posthorn_stage_dead (resolved_at)
where resolved_at is not null;

-- What lanes lead to. A removed consumer stays, without its secrets, because history names it.
create table if not exists posthorn_consumer (
  id integer primary key autoincrement,
  public_id text not null,
  tenant text not null,
  kind text not null default 'endpoint' check (kind in ('endpoint', 'handler')),
  url text not null,
  secrets text not null,
  sources text not null,
  types text not null,
  -- What each version of the host has said of a handler, as JSON.
  versions text,
  ordered_by text not null check (ordered_by in ('key', 'endpoint', 'none')),
  retry text not null,
  dead text check (dead in ('halt', 'skip', 'park')),
  -- A handler has none: each of its workers has slots of its own.
  max_in_flight integer check (kind = 'handler' or max_in_flight is not null),
  state text not null check (state in ('active', 'paused', 'disabled')),
  because text,
  version integer not null,
  -- Since when it is not active.
  stopped_at integer,
  paused_until integer,
  -- Of a pause: the person; null: a rule for errors.
  paused_by text,
  -- Of a handler: when a worker last said that it has it.
  seen_at integer,
  removed_at integer,
  -- A removed consumer is cleared a part at a time; null while deliveries of it are still to be cancelled.
  cleared_at integer
) strict;

create unique index if not exists posthorn_consumer_public_id on posthorn_consumer (public_id)
where removed_at is null;

create index if not exists posthorn_consumer_uncleared on posthorn_consumer (removed_at)
where removed_at is not null and cleared_at is null;

-- One row.
create table if not exists posthorn_outbox_config (
  one integer primary key check (one = 1),
  -- Random, and another one after every change of a consumer. Not a number: a number that was rolled back would be given
  -- again, and a process that remembers the first would never read the second.
  mark text not null default 'none',
  -- The latest time by which anything was written; a clock that stands before it was set back. In the row that every
  -- transaction reads for the mark, so that it costs no statement of its own.
  seen_at integer not null default 0,
  -- Lanes are created with this generation. It grows whenever lanes are removed, so that a lane which is created again
  -- has a higher one: sequences compare only within one generation.
  generation integer not null default 1
) strict;

insert or ignore into posthorn_outbox_config (one) values (1);

-- How far the removal of old records is, by what is removed.
create table if not exists posthorn_retention (
  kind text primary key,
  -- Attempts and answers are looked at once, when their event is old enough: up to this event.
  up_to integer not null default 0,
  removed integer not null default 0,
  -- When a pass last reached its end.
  passed_at integer
) strict, without rowid;
