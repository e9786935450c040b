// Written by scripts/build-migrations.ts from migrations/*.sql: change those, and run it.
export const SERVER_MIGRATIONS = [
  {
    version: 1,
    name: "0001_create_registry",
    sql: `-- Where inbound events come from. Its secrets are sealed; without the master key they are of no use to whoever has a
-- copy of the file.
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

-- Access to the API. The tokens themselves are nowhere.
create table if not exists posthorn_token (
  id text primary key not null,
  name text not null,
  scope text not null check (scope in ('read', 'full')),
  hash blob not null unique,
  created_at integer not null,
  expires_at integer,
  last_used_at integer
) strict, without rowid;

-- Requests that were not taken in, for people to look at; capped by source. The body is last: lists leave it unread.
create table if not exists posthorn_rejected (
  id text primary key not null,
  source text not null,
  received_at integer not null,
  method text not null,
  headers text not null,
  body_bytes integer not null,
  code text not null,
  message text not null,
  diagnosis text not null,
  body blob not null
) strict;

create index if not exists posthorn_rejected_source on posthorn_rejected (source, id);

-- One row that readiness checks write, because a file that is read can still refuse every write.
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
