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
  -- Path and query; null where they were not kept.
  url text,
  -- Without credentials, as JSON.
  headers text not null,
  -- With credentials, as sealed JSON; null where they were not kept.
  headers_sealed text,
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
