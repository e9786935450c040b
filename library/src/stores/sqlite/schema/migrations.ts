// Written by scripts/build-migrations.ts from migrations/*.sql: change those, and run it.

/** The migrations of these tables, in order, for those who run them by tools of their own. */
export const MIGRATIONS = [
  {
    version: 1,
    name: "0001_create_inbox",
    sql: `-- One row per event that arrived, and per consumer that handles it: '' stands for the receiver's own transaction. Times
-- are milliseconds since 1970.
-- A rowid table: without, bodies fill the inner pages of the key's tree, and beside bodies of 4 kB a lookup costs 3
-- times as much, an insert with a random id 2.8 times; only small bodies with time-ordered ids would gain (0.6 times).
create table if not exists posthorn_inbox (
  tenant text not null,
  source text not null,
  event_id text not null,
  consumer text not null default '',
  id_preview text,
  type text not null,
  event_at integer,
  outcome text not null
    check (outcome in ('success', 'skipped', 'failed', 'pending', 'held', 'dead', 'dropped')),
  -- 1, and one more with each replay: what a handler does once, it does once in each round.
  round integer not null default 1,
  -- The public id of the stored event that a worker has handled; null where it was handled within its request.
  stored_as text,
  attempts integer not null,
  receipts integer not null,
  received_at integer not null,
  last_received_at integer not null,
  -- Null: kept for ever, or until it is applied. A purge that removed a failed event would lose what was never applied.
  keep_until integer,
  result text,
  error text,
  -- Null where a worker has handled the event: stored_as has both, once for all consumers, as long as retention keeps it.
  headers text,
  body_hash blob not null,
  body blob,
  -- Of an event that failed within its request: a redrive puts it among the events of its key.
  ordering_key text,
  primary key (tenant, source, event_id, consumer)
) strict;

-- What a purge may remove, oldest first.
create index if not exists posthorn_inbox_keep_until on posthorn_inbox (keep_until) where keep_until is not null;

-- What people list.
create index if not exists posthorn_inbox_received_at on posthorn_inbox (received_at);

-- What people look for, among many that are well.
create index if not exists posthorn_inbox_unwell on posthorn_inbox (outcome, received_at)
where outcome not in ('success', 'skipped');

-- Attempts that failed; the one that succeeded is the row of the inbox itself.
create table if not exists posthorn_inbox_attempt (
  tenant text not null,
  source text not null,
  event_id text not null,
  consumer text not null default '',
  round integer not null default 1,
  attempt integer not null,
  failed_at integer not null,
  error text not null,
  -- The class of the error; null where nobody has classified it.
  fingerprint text,
  primary key (tenant, source, event_id, consumer, round, attempt)
) strict, without rowid;

-- Conflicts and stale events, apart from the inbox. One row per body: a sender that repeats one is counted.
create table if not exists posthorn_inbox_refused (
  tenant text not null,
  source text not null,
  event_id text not null,
  because text not null check (because in ('conflict', 'stale')),
  body_hash blob not null,
  id_preview text,
  type text not null,
  event_at integer,
  receipts integer not null,
  refused_at integer not null,
  last_refused_at integer not null,
  keep_until integer,
  headers text not null,
  body blob not null,
  ordering_key text,
  primary key (tenant, source, event_id, because, body_hash)
) strict;

create index if not exists posthorn_inbox_refused_keep_until on posthorn_inbox_refused (keep_until)
where keep_until is not null;

-- Always empty between transactions: its one row, while it is there, makes SQLite refuse a handler's \`commit\`.
create table if not exists posthorn_guard (
  id integer primary key,
  waits_for integer not null references posthorn_guard (id) deferrable initially deferred
) strict;

-- The newest version of each resource that a handler has met: what is older is dropped, and what is equal, unless the same event
-- brought it. Kept for ever: a row that is forgotten lets an old event win.
create table if not exists posthorn_newest (
  -- As in the inbox.
  consumer text not null,
  tenant text not null,
  source text not null,
  resource text not null,
  -- Numbers and times are never compared with each other.
  kind text not null check (kind in ('number', 'time')),
  -- A time in milliseconds since 1970.
  version integer not null,
  -- Which event brought it: its replay brings the same version, and is handled again.
  event_id text not null,
  seen_at integer not null,
  primary key (consumer, tenant, source, resource)
) strict, without rowid;
`,
  },
  {
    version: 2,
    name: "0002_create_dedup",
    sql: `-- Ids that were seen, until they expire. Without rowid: the row is little more than its key.
create table if not exists posthorn_dedup (
  scope text not null default '',
  id text not null,
  expires_at integer not null,
  primary key (scope, id)
) strict, without rowid;

create index if not exists posthorn_dedup_expires_at on posthorn_dedup (expires_at);
`,
  },
  {
    version: 3,
    name: "0003_create_outbox",
    sql: `-- Published events, as they will be sent. Numbers are never given twice: a lane that is created again starts at its
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
`,
  },
  {
    version: 4,
    name: "0004_create_lanes",
    sql: `-- The unit of order: one consumer and one key. Deliveries wait in it from head_seq up to, but not including, next_seq.
-- While it is leased, ready_at is the lease's end, so that a lease that has ended is found like any due lane.
create table if not exists posthorn_lane (
  id integer primary key autoincrement,
  consumer integer not null,
  -- Of a handler's lanes; an endpoint's lanes leave both ''.
  tenant text not null default '',
  source text not null default '',
  key text not null,
  -- Of posthorn_outbox_config, when the lane was created.
  generation integer not null,
  next_seq integer not null,
  head_seq integer not null,
  -- The last sequence before the head that was acknowledged.
  last_seq integer,
  state text not null default 'flowing' check (state in ('flowing', 'halted', 'parked')),
  ready_at integer,
  leased_by text,
  leased_at integer,
  leased_until integer,
  epoch integer not null default 0,
  attempts integer not null default 0,
  failures integer not null default 0,
  lapses integer not null default 0,
  run_len integer not null default 0,
  suspect_until integer,
  intent text check (intent = 'skip'),
  blocked_at integer
) strict;

create unique index if not exists posthorn_lane_name on posthorn_lane (consumer, tenant, source, key);

-- By consumer first: a million lanes of a paused consumer must not stand before the others.
create index if not exists posthorn_lane_ready on posthorn_lane (consumer, ready_at) where ready_at is not null;

-- Brief lanes again: who has little waiting is found past any number of consumers whose backlogs are longer.
create index if not exists posthorn_lane_brief on posthorn_lane (consumer, ready_at)
where ready_at is not null and next_seq - head_seq <= 8;

create index if not exists posthorn_lane_leased on posthorn_lane (leased_by) where leased_by is not null;

create index if not exists posthorn_lane_blocked on posthorn_lane (blocked_at) where blocked_at is not null;

-- What has lapsed so often that it is claimed alone; almost always empty.
create index if not exists posthorn_lane_alone on posthorn_lane (ready_at) where lapses >= 3 and ready_at is not null;

-- Counts the lanes that have stopped without reading every lane.
create index if not exists posthorn_lane_stopped on posthorn_lane (state) where state <> 'flowing';

-- One event in one lane, until it is delivered or passed over.
create table if not exists posthorn_delivery (
  lane integer not null,
  seq integer not null,
  event integer not null,
  round integer not null,
  primary key (lane, seq)
) strict, without rowid;

-- Deliveries of events that have no lane. One that is dead has no ready time.
create table if not exists posthorn_loose_delivery (
  id integer primary key autoincrement,
  consumer integer not null,
  event integer not null,
  round integer not null,
  ready_at integer,
  leased_by text,
  leased_at integer,
  leased_until integer,
  epoch integer not null default 0,
  attempts integer not null default 0,
  failures integer not null default 0,
  lapses integer not null default 0
) strict;

create index if not exists posthorn_loose_delivery_ready on posthorn_loose_delivery (consumer, ready_at)
where ready_at is not null;

create index if not exists posthorn_loose_delivery_leased on posthorn_loose_delivery (leased_by)
where leased_by is not null;

create index if not exists posthorn_loose_delivery_alone on posthorn_loose_delivery (ready_at)
where lapses >= 3 and ready_at is not null;

-- Every place that an event was ever given: a delivery's row is gone once it was delivered, and a lane's once its
-- consumer was removed. Rows are written once, at the end of the table; indexes by event on four other tables would be
-- written twice.
create table if not exists posthorn_place (
  event integer not null,
  consumer integer not null,
  lane integer not null,
  seq integer not null,
  primary key (event, consumer, lane, seq)
) strict, without rowid;

-- In this table and the next two, lane 0 stands for deliveries without a lane, and seq is the delivery's id then.
create table if not exists posthorn_attempt (
  lane integer not null,
  seq integer not null,
  round integer not null,
  no integer not null,
  event integer not null,
  started_at integer not null,
  duration_ms real not null,
  outcome text not null,
  status integer,
  error text,
  -- JSON: how long each phase of the attempt took.
  timings text,
  -- The address that was reached.
  address text,
  -- The class of the error.
  fingerprint text,
  url text,
  -- JSON: the headers as they were sent.
  request_headers text,
  answer blob,
  primary key (lane, seq, round, no)
) strict, without rowid;

-- Deliveries that were given up. What is resolved is no longer listed: 'redriven' was made due again, 'cancelled' lost
-- its consumer.
create table if not exists posthorn_dead (
  id integer primary key autoincrement,
  lane integer not null,
  seq integer not null,
  round integer not null,
  event integer not null,
  consumer integer not null,
  because text not null,
  died_at integer not null,
  attempts integer not null,
  last_status integer,
  last_error text,
  resolved_at integer,
  resolved_how text check (resolved_how in ('redriven', 'skipped', 'cancelled', 'forgotten')),
  unique (lane, seq, round),
  check ((resolved_at is null) = (resolved_how is null))
) strict;

create index if not exists posthorn_dead_listed on posthorn_dead (died_at, id) where resolved_at is null;

-- Those that died alike, in the order in which they died: whatever part of a group's name is asked for, its groups are
-- few, and each is read in order.
create index if not exists posthorn_dead_alike
on posthorn_dead (consumer, because, coalesce(last_status, 0), coalesce(last_error, ''), died_at, id)
where resolved_at is null;

-- How many dead letters of each kind are listed. Written by the triggers below, with the row that changes: a verb that
-- forgot to count would be wrong for ever.
create table if not exists posthorn_dead_group (
  consumer integer not null,
  because text not null,
  -- 0 and '' where there was none.
  status integer not null,
  error text not null,
  count integer not null,
  primary key (consumer, because, status, error)
) strict, without rowid;

create trigger if not exists posthorn_dead_listed_now after insert on posthorn_dead when new.resolved_at is null begin
  insert into posthorn_dead_group (consumer, because, status, error, count)
  values (new.consumer, new.because, coalesce(new.last_status, 0), coalesce(new.last_error, ''), 1)
  on conflict (consumer, because, status, error) do update set count = count + 1;
end;

create trigger if not exists posthorn_dead_resolved_now after update of resolved_at on posthorn_dead
when old.resolved_at is null and new.resolved_at is not null begin
  update posthorn_dead_group set count = count - 1
  where consumer = old.consumer and because = old.because and status = coalesce(old.last_status, 0)
    and error = coalesce(old.last_error, '');
  delete from posthorn_dead_group
  where consumer = old.consumer and because = old.because and status = coalesce(old.last_status, 0)
    and error = coalesce(old.last_error, '') and count <= 0;
end;

create trigger if not exists posthorn_dead_removed_now after delete on posthorn_dead when old.resolved_at is null begin
  update posthorn_dead_group set count = count - 1
  where consumer = old.consumer and because = old.because and status = coalesce(old.last_status, 0)
    and error = coalesce(old.last_error, '');
  delete from posthorn_dead_group
  where consumer = old.consumer and because = old.because and status = coalesce(old.last_status, 0)
    and error = coalesce(old.last_error, '') and count <= 0;
end;

-- Those of a consumer that is removed are resolved.
create index if not exists posthorn_dead_consumer on posthorn_dead (consumer) where resolved_at is null;

-- Retention removes the longest resolved first.
create index if not exists posthorn_dead_resolved_at on posthorn_dead (resolved_at) where resolved_at is not null;

-- Deliveries that will not be made: they had expired, were skipped, or their consumer was removed.
create table if not exists posthorn_cancelled (
  lane integer not null,
  seq integer not null,
  round integer not null,
  event integer not null,
  consumer integer not null,
  because text not null,
  cancelled_at integer not null,
  primary key (lane, seq, round)
) strict, without rowid;

-- Retention removes the oldest first.
create index if not exists posthorn_cancelled_at on posthorn_cancelled (cancelled_at);
`,
  },
  {
    version: 5,
    name: "0005_create_ingest",
    sql: `-- Names under which events came from elsewhere: the id that their sender gave, or a hash of their content.
create table if not exists posthorn_ingest_name (
  tenant text not null,
  name text not null,
  -- The public id of the event that came first under it.
  event_id text not null,
  -- Null: another body is no conflict.
  body_hash blob,
  -- Null: known for ever.
  keep_until integer,
  primary key (tenant, name)
) strict, without rowid;

create index if not exists posthorn_ingest_name_keep_until on posthorn_ingest_name (keep_until)
where keep_until is not null;

-- Duplicates and conflicts of what came from elsewhere, with their bytes. One row per body: a sender that repeats one is
-- counted.
create table if not exists posthorn_ingest_repeat (
  id integer primary key autoincrement,
  tenant text not null,
  -- The public id of the event that came first.
  event_id text not null,
  kind text not null check (kind in ('duplicate', 'conflict')),
  receipts integer not null,
  received_at integer not null,
  last_received_at integer not null,
  headers text not null,
  body_hash blob not null,
  -- Null where it is equal to the stored event's.
  body blob,
  keep_until integer,
  unique (tenant, event_id, kind, body_hash)
) strict;

create index if not exists posthorn_ingest_repeat_keep_until on posthorn_ingest_repeat (keep_until)
where keep_until is not null;
`,
  },
  {
    version: 6,
    name: "0006_create_repair",
    sql: `-- How far the log of a provider has been read, by the name of its repair.
create table if not exists posthorn_repair_cursor (
  name text not null primary key,
  cursor text not null,
  -- For people: when the last run ended.
  written_at integer not null
) strict, without rowid;
`,
  },
  {
    version: 7,
    name: "0007_create_step",
    sql: `-- Steps of long handlers, with what they came to: a handler that runs again does not do them again.
create table if not exists posthorn_step (
  tenant text not null,
  source text not null,
  event_id text not null,
  consumer text not null,
  -- Of the inbox: another round does its steps anew.
  round integer not null,
  step text not null,
  -- The public id of the stored event, with which it is removed.
  stored_as text not null,
  tries integer not null default 1,
  begun_at integer not null,
  -- Null: begun, and nobody knows what came of it.
  finished_at integer,
  -- As JSON.
  result text,
  primary key (tenant, source, event_id, consumer, round, step)
) strict, without rowid;

create index if not exists posthorn_step_stored_as on posthorn_step (stored_as);
`,
  },
] as const;
