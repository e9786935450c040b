-- The unit of order: one consumer and one key. Deliveries wait in it from head_seq up to, but not including, next_seq.
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
