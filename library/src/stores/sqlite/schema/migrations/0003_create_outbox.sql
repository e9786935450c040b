-- Events on their way out. Numbers are never given twice: a lane that is made anew starts at its first event's number,
-- and must not begin below one that it had before. The body comes last, so that what stands before it is read without it.
create table if not exists posthorn_event (
  id integer primary key autoincrement,
  event_id text not null,
  tenant text not null,
  source text not null,
  type text not null,
  key text,
  content_type text not null,
  event_at integer not null,
  expires_at integer,
  written_at integer not null,
  body blob not null
) strict;

-- Ids that callers gave: a second event of one of them is not sent.
create table if not exists posthorn_outbox_key (
  tenant text not null,
  event_id text not null,
  body_hash blob not null,
  primary key (tenant, event_id)
) strict, without rowid;

-- Events that take their places when they are due.
create table if not exists posthorn_later (
  deliver_at integer not null,
  event integer not null,
  primary key (deliver_at, event)
) strict, without rowid;

-- Events that could not be given their places, and why.
create table if not exists posthorn_set_aside (
  event integer primary key,
  error text not null,
  set_aside_at integer not null
) strict;

-- Where events go. A removed one stays, without its secrets, so that history can name it; its state says when everything
-- that waited for it is cancelled.
create table if not exists posthorn_endpoint (
  id integer primary key autoincrement,
  endpoint_id text not null,
  tenant text not null,
  url text not null,
  secrets text not null,
  sources text not null,
  types text not null,
  in_order text not null,
  retry text not null,
  dead text,
  max_in_flight integer not null,
  state text not null,
  because text,
  version integer not null,
  stopped_at integer,
  removed_at integer
) strict;

create unique index if not exists posthorn_endpoint_id on posthorn_endpoint (endpoint_id) where removed_at is null;

create index if not exists posthorn_endpoint_leaving on posthorn_endpoint (removed_at)
where removed_at is not null and state <> 'removed';

-- One row, with a new random mark at every change of an endpoint. Not a number: one that was rolled back would be
-- given again, and a process that remembers the first would never look at the second.
create table if not exists posthorn_endpoint_mark (
  id integer primary key check (id = 1),
  mark text not null
) strict;

insert or ignore into posthorn_endpoint_mark (id, mark) values (1, 'none');

-- The unit of order: one endpoint and one key. From head_seq up to, but not including, next_seq its deliveries wait.
create table if not exists posthorn_lane (
  id integer primary key autoincrement,
  endpoint integer not null,
  key text not null,
  generation integer not null default 1,
  next_seq integer not null,
  head_seq integer not null,
  last_seq integer,
  state text not null default 'flowing',
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
  intent text,
  blocked_at integer
) strict;

create unique index if not exists posthorn_lane_key on posthorn_lane (endpoint, key);

-- By endpoint first: a million lanes of one that is paused must not stand before the others.
create index if not exists posthorn_lane_ready on posthorn_lane (endpoint, ready_at) where ready_at is not null;

create index if not exists posthorn_lane_leased on posthorn_lane (leased_by) where leased_by is not null;

create index if not exists posthorn_lane_blocked on posthorn_lane (blocked_at) where blocked_at is not null;

create index if not exists posthorn_lane_lapsed on posthorn_lane (ready_at) where lapses >= 3 and ready_at is not null;

-- What waits in a lane; a delivered one is gone, and its acknowledged attempt is the record.
create table if not exists posthorn_delivery (
  lane integer not null,
  seq integer not null,
  event integer not null,
  round integer not null,
  primary key (lane, seq)
) strict, without rowid;

-- Deliveries of events that have no lane.
create table if not exists posthorn_loose_delivery (
  id integer primary key autoincrement,
  endpoint integer not null,
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

create index if not exists posthorn_loose_delivery_ready on posthorn_loose_delivery (endpoint, ready_at)
where ready_at is not null;

create index if not exists posthorn_loose_delivery_leased on posthorn_loose_delivery (leased_by)
where leased_by is not null;

create index if not exists posthorn_loose_delivery_lapsed on posthorn_loose_delivery (ready_at)
where lapses >= 3 and ready_at is not null;

-- In this table and the next two, lane 0 stands for deliveries without one, and seq is their id then.
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
  answer blob,
  primary key (lane, seq, round, no)
) strict, without rowid;

create table if not exists posthorn_dead (
  id integer primary key autoincrement,
  lane integer not null,
  seq integer not null,
  round integer not null,
  event integer not null,
  endpoint integer not null,
  because text not null,
  died_at integer not null,
  attempts integer not null,
  last_status integer,
  last_error text,
  state text not null default 'dead',
  unique (lane, seq, round)
) strict;

-- What an operator is shown: neither what was redriven, nor what died at an endpoint that is gone.
create index if not exists posthorn_dead_shown on posthorn_dead (id) where state = 'dead';

create table if not exists posthorn_cancelled (
  lane integer not null,
  seq integer not null,
  round integer not null,
  event integer not null,
  endpoint integer not null,
  because text not null,
  cancelled_at integer not null,
  attempts integer not null,
  primary key (lane, seq, round)
) strict, without rowid;
