CREATE TABLE posthorn_audit (
  id text primary key not null,
  at integer not null,
  token_id text not null,
  token_name text not null,
  via text not null,
  action text not null,
  kind text not null,
  subject text,
  -- As the API shows it, as JSON; never a secret.
  before text,
  after text,
  note text,
  -- Null: the process ended before it knew.
  status integer,
  request_id text not null
) strict, without rowid;

CREATE INDEX posthorn_audit_action on posthorn_audit (action, id);

CREATE INDEX posthorn_audit_kind on posthorn_audit (kind, id);

CREATE INDEX posthorn_audit_subject on posthorn_audit (subject, id) where subject is not null;

CREATE INDEX posthorn_audit_token on posthorn_audit (token_id, id);

CREATE TABLE posthorn_dead_note (
  group_id text primary key not null,
  text text not null,
  written_by text not null,
  written_at integer not null
) strict, without rowid;

CREATE TABLE posthorn_node (
  name text primary key,
  roles text not null,
  version text not null,
  started_at integer not null,
  seen_at integer not null
) strict;

CREATE TABLE posthorn_operation (
  id text primary key not null,
  verb text not null,
  state text not null check (state in ('planned', 'running', 'stopping', 'stopped', 'finished', 'failed')),
  -- As JSON: what is meant, what was shown, who asked, and who stopped it.
  filter text not null,
  plan text not null,
  planned_by text not null,
  run_by text,
  stopped_by text,
  note text,
  rate integer not null,
  -- Where the next step begins.
  after text,
  done integer not null default 0,
  -- How many items came to each result, as JSON.
  results text not null default '{}',
  message text,
  planned_at integer not null,
  started_at integer,
  ended_at integer,
  -- Who has it, until when, and the fence of the lease.
  node text,
  leased_until integer,
  epoch integer not null default 0
) strict, without rowid;

CREATE INDEX posthorn_operation_by_state on posthorn_operation (state, id);

CREATE INDEX posthorn_operation_by_verb on posthorn_operation (verb, id) where state <> 'planned';

CREATE TABLE posthorn_operation_item (
  operation_id text not null,
  number integer not null,
  delivery_id text,
  lane_id text,
  round integer,
  -- Of a cancellation: the last sequence that is meant.
  through text,
  event_id text,
  endpoint_id text,
  -- Written before it is done, so that a step that was cut off is done again, and once.
  result text not null default 'pending',
  count integer not null default 0,
  done_at integer,
  primary key (operation_id, number)
) strict, without rowid;

CREATE INDEX posthorn_operation_item_event on posthorn_operation_item (event_id) where event_id is not null;

CREATE INDEX posthorn_operation_item_lane on posthorn_operation_item (lane_id) where event_id is null;

CREATE INDEX posthorn_operation_item_result on posthorn_operation_item (operation_id, result, number);

CREATE TABLE posthorn_probe (
  one integer primary key not null check (one = 1),
  node text not null,
  written_at integer not null
) strict;

CREATE TABLE posthorn_rejected (
  id text primary key not null,
  source text not null,
  received_at integer not null,
  method text not null,
  -- Without credentials, as JSON.
  headers text not null,
  -- URL and headers with their credentials, as sealed JSON; null where the request was not kept whole.
  request_sealed text,
  -- Of the whole body.
  body_bytes integer not null,
  code text not null,
  message text not null,
  -- As a JSON array of texts.
  diagnosis text not null,
  -- The first bytes.
  body blob not null
) strict;

CREATE INDEX posthorn_rejected_source on posthorn_rejected (source, id);

CREATE TABLE posthorn_series (
  step integer not null check (step in (60, 3600)),
  kind text not null check (kind in ('total', 'source', 'endpoint')),
  at integer not null,
  name text not null,
  -- Unique per start of a node.
  node text not null,
  -- JSON.
  counts text not null,
  -- Histograms, as `bucket:count …`.
  duration text not null,
  lag text not null,
  primary key (step, kind, at, name, node)
) strict, without rowid;

CREATE TABLE posthorn_session (
  hash blob primary key not null,
  token_id text not null,
  created_at integer not null,
  expires_at integer not null
) strict, without rowid;

CREATE TABLE posthorn_set_migration (
         set_name text not null, version integer not null, name text not null, applied_at integer not null,
         primary key (set_name, version)
       ) strict, without rowid;

CREATE TABLE posthorn_source (
  name text primary key not null,
  tenant text not null,
  scheme text not null,
  -- Sealed texts, as a JSON array.
  secrets text not null,
  -- Its options, dedup rule, window, key and headers, as JSON.
  definition text not null,
  created_at integer not null,
  version integer not null
) strict, without rowid;

CREATE TABLE posthorn_source_config (
  one integer primary key not null check (one = 1),
  version integer not null
) strict;

CREATE TABLE posthorn_token (
  id text primary key not null,
  name text not null,
  scope text not null check (scope in ('read', 'full', 'metrics')),
  hash blob not null unique,
  created_at integer not null,
  expires_at integer,
  last_used_at integer
) strict, without rowid;
