// Written by scripts/build-migrations.ts from migrations/*.sql: change those, and run it.
export const SERVER_MIGRATIONS = [
  {
    version: 1,
    name: "0001_create_registry",
    sql: `-- Where inbound events come from. Its secrets are sealed; without the master key they are of no use to whoever has a
-- copy of the database.
create table if not exists posthorn.source (
  name text collate "C" not null,
  tenant text collate "C" not null,
  scheme text not null,
  -- Sealed texts, as a JSON array.
  secrets text not null,
  -- Its options, dedup rule, window, key and headers, as JSON.
  definition text not null,
  created_at timestamptz not null,
  version bigint not null,
  constraint source_key primary key (name)
);

-- Grows with each change of a source: nodes ask for this one number, once a second each.
create table if not exists posthorn.source_config (
  one boolean not null default true constraint source_config_one check (one),
  version bigint not null,
  constraint source_config_key primary key (one)
);

insert into posthorn.source_config (version) values (1) on conflict (one) do nothing;

-- Access to the API. The tokens themselves are nowhere.
create table if not exists posthorn.token (
  id text collate "C" not null,
  name text not null,
  scope text not null constraint token_scope check (scope in ('read', 'full')),
  hash bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  -- The one that the first start made.
  first boolean not null default false,
  constraint token_key primary key (id),
  constraint token_hash unique (hash)
);

-- Of two nodes that start at once on an empty database, one makes the first token.
create unique index if not exists token_first on posthorn.token (first) where first;

-- Requests that were not taken in, for people to look at; capped by source.
create table if not exists posthorn.rejected (
  id text collate "C" not null,
  source text collate "C" not null,
  received_at timestamptz not null,
  method text not null,
  headers text not null,
  body bytea not null,
  body_bytes bigint not null,
  code text not null,
  message text not null,
  diagnosis text not null,
  constraint rejected_key primary key (id)
);

create index if not exists rejected_source on posthorn.rejected (source, id);

-- One row that readiness checks write, because a database that is read can still refuse every write.
create table if not exists posthorn.probe (
  one boolean not null default true constraint probe_one check (one),
  node text not null,
  written_at timestamptz not null,
  constraint probe_key primary key (one)
);
`,
  },
  {
    version: 2,
    name: "0002_create_sessions",
    sql: `-- Sessions of browsers. What a cookie holds is nowhere: its hash is. A session is worth what its token is worth, and ends
-- with it, which is why it is only ever read together with its token.
create table if not exists posthorn.session (
  hash bytea not null,
  token_id text collate "C" not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint session_key primary key (hash)
);
`,
  },
] as const;
