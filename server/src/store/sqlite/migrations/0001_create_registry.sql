-- Where inbound events come from. Secrets are sealed: a copy of the file is of no use without the master key.
create table if not exists posthorn_source (
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

-- Grows with each change of a source.
create table if not exists posthorn_source_config (
  one integer primary key not null check (one = 1),
  version integer not null
) strict;

insert or ignore into posthorn_source_config (one, version) values (1, 1);

-- Access to the API. Only hashes of tokens are stored.
create table if not exists posthorn_token (
  id text primary key not null,
  name text not null,
  scope text not null check (scope in ('read', 'full', 'metrics')),
  hash blob not null unique,
  created_at integer not null,
  expires_at integer,
  last_used_at integer
) strict, without rowid;

-- Requests that were not taken in, for an operator to look at; at most so many per source. The body is the last column, so
-- that lists do not read it.
create table if not exists posthorn_rejected (
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

create index if not exists posthorn_rejected_source on posthorn_rejected (source, id);

-- Readiness checks write this one row: a file that can be read may still refuse every write.
create table if not exists posthorn_probe (
  one integer primary key not null check (one = 1),
  node text not null,
  written_at integer not null
) strict;
