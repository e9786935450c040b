CREATE TABLE posthorn_attempt (
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

CREATE TABLE posthorn_cancelled (
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

CREATE TABLE posthorn_dead (
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

CREATE INDEX posthorn_dead_shown on posthorn_dead (id) where state = 'dead';

CREATE TABLE posthorn_dedup (
  id text primary key not null,
  expires_at integer not null
) strict, without rowid;

CREATE INDEX posthorn_dedup_expires_at on posthorn_dedup (expires_at);

CREATE TABLE posthorn_delivery (
  lane integer not null,
  seq integer not null,
  event integer not null,
  round integer not null,
  primary key (lane, seq)
) strict, without rowid;

CREATE TABLE posthorn_endpoint (
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

CREATE UNIQUE INDEX posthorn_endpoint_id on posthorn_endpoint (endpoint_id) where removed_at is null;

CREATE INDEX posthorn_endpoint_leaving on posthorn_endpoint (removed_at)
where removed_at is not null and state <> 'removed';

CREATE TABLE posthorn_endpoint_mark (
  id integer primary key check (id = 1),
  mark text not null
, seen_at integer not null default 0) strict;

CREATE TABLE posthorn_event (
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
, headers text, deliver_at integer) strict;

CREATE INDEX posthorn_event_key on posthorn_event (tenant, key) where key is not null;

CREATE INDEX posthorn_event_public_id on posthorn_event (event_id);

CREATE TABLE posthorn_guard (
  id integer primary key,
  waits_for integer not null references posthorn_guard (id) deferrable initially deferred
) strict;

CREATE TABLE posthorn_inbox (
  tenant text not null,
  source text not null,
  event_id text not null,
  id_preview text,
  type text not null,
  event_at integer,
  outcome text not null,
  attempts integer not null,
  receipts integer not null,
  received_at integer not null,
  last_received_at integer not null,
  keep_until integer,
  result text,
  error text,
  headers text not null,
  body_hash blob not null,
  body blob not null,
  primary key (tenant, source, event_id)
) strict;

CREATE INDEX posthorn_inbox_keep_until on posthorn_inbox (keep_until)
where keep_until is not null and outcome <> 'failed';

CREATE TABLE posthorn_inbox_attempt (
  tenant text not null,
  source text not null,
  event_id text not null,
  attempt integer not null,
  failed_at integer not null,
  error text not null,
  primary key (tenant, source, event_id, attempt)
) strict, without rowid;

CREATE TABLE posthorn_inbox_refused (
  tenant text not null,
  source text not null,
  event_id text not null,
  because text not null,
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
  primary key (tenant, source, event_id, because, body_hash)
) strict;

CREATE INDEX posthorn_inbox_refused_keep_until on posthorn_inbox_refused (keep_until)
where keep_until is not null;

CREATE TABLE posthorn_ingest_name (
  tenant text not null,
  name text not null,
  event_id text not null,
  body_hash blob,
  keep_until integer,
  primary key (tenant, name)
) strict, without rowid;

CREATE INDEX posthorn_ingest_name_keep_until on posthorn_ingest_name (keep_until)
where keep_until is not null;

CREATE TABLE posthorn_lane (
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

CREATE INDEX posthorn_lane_blocked on posthorn_lane (blocked_at) where blocked_at is not null;

CREATE UNIQUE INDEX posthorn_lane_key on posthorn_lane (endpoint, key);

CREATE INDEX posthorn_lane_lapsed on posthorn_lane (ready_at) where lapses >= 3 and ready_at is not null;

CREATE INDEX posthorn_lane_leased on posthorn_lane (leased_by) where leased_by is not null;

CREATE INDEX posthorn_lane_ready on posthorn_lane (endpoint, ready_at) where ready_at is not null;

CREATE INDEX posthorn_lane_stopped on posthorn_lane (state) where state <> 'flowing';

CREATE TABLE posthorn_later (
  deliver_at integer not null,
  event integer not null,
  primary key (deliver_at, event)
) strict, without rowid;

CREATE TABLE posthorn_loose_delivery (
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

CREATE INDEX posthorn_loose_delivery_lapsed on posthorn_loose_delivery (ready_at)
where lapses >= 3 and ready_at is not null;

CREATE INDEX posthorn_loose_delivery_leased on posthorn_loose_delivery (leased_by)
where leased_by is not null;

CREATE INDEX posthorn_loose_delivery_ready on posthorn_loose_delivery (endpoint, ready_at)
where ready_at is not null;

CREATE TABLE posthorn_migration (version integer primary key, name text not null, applied_at integer not null) strict;

CREATE TABLE posthorn_outbox_key (
  tenant text not null,
  event_id text not null,
  body_hash blob not null,
  primary key (tenant, event_id)
) strict, without rowid;

CREATE TABLE posthorn_place (
  event integer not null,
  endpoint integer not null,
  lane integer not null,
  seq integer not null,
  primary key (event, endpoint, lane, seq)
) strict, without rowid;

CREATE TABLE posthorn_set_aside (
  event integer primary key,
  error text not null,
  set_aside_at integer not null
) strict;

CREATE TABLE sqlite_sequence(name,seq);
