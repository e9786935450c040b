CREATE TABLE posthorn_dedup (
  id text primary key not null,
  expires_at integer not null
) strict, without rowid;

CREATE INDEX posthorn_dedup_expires_at on posthorn_dedup (expires_at);

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

CREATE TABLE posthorn_migration (version integer primary key, name text not null, applied_at integer not null) strict;
