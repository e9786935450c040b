// Written by scripts/build-migrations.ts from migrations/*.sql: change those, and run it.
export const SERVER_MIGRATIONS = [
  {
    version: 1,
    name: "0001_create_registry",
    sql: `-- Where inbound events come from. Secrets are sealed: a copy of the file is of no use without the master key.
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

create index if not exists posthorn_rejected_source on posthorn_rejected (source, id);

-- Readiness checks write this one row: a file that can be read may still refuse every write.
create table if not exists posthorn_probe (
  one integer primary key not null check (one = 1),
  node text not null,
  written_at integer not null
) strict;
`,
  },
  {
    version: 2,
    name: "0002_create_sessions",
    sql: `-- Sessions of browsers. What a cookie holds is nowhere: its hash is. A session is worth what its token is worth, and ends
-- with it, which is why it is only ever read together with its token.
create table if not exists posthorn_session (
  hash blob primary key not null,
  token_id text not null,
  created_at integer not null,
  expires_at integer not null
) strict, without rowid;
`,
  },
] as const;
