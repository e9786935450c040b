-- Where inbound events come from. Secrets are sealed: a copy of the database is of no use without the master key.
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

-- Grows with each change of a source: each node polls this one number once a second.
create table if not exists posthorn.source_config (
  one boolean not null default true constraint source_config_one check (one),
  version bigint not null,
  constraint source_config_key primary key (one)
);

insert into posthorn.source_config (version) values (1) on conflict (one) do nothing;

-- Access to the API. Only hashes of tokens are stored.
create table if not exists posthorn.token (
  id text collate "C" not null,
  name text not null,
  scope text not null constraint token_scope check (scope in ('read', 'full', 'metrics')),
  hash bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  -- The token that the first start made.
  first boolean not null default false,
  constraint token_key primary key (id),
  constraint token_hash unique (hash)
);

-- Two nodes that start at once on an empty database make one first token, not two.
create unique index if not exists token_first on posthorn.token (first) where first;

-- Requests that were not taken in, for an operator to look at; at most so many per source.
create table if not exists posthorn.rejected (
  id text collate "C" not null,
  source text collate "C" not null,
  received_at timestamptz not null,
  method text not null,
  -- Without credentials, as JSON.
  headers text not null,
  -- URL and headers with their credentials, as sealed JSON; null where the request was not kept whole.
  request_sealed text,
  -- The first bytes.
  body bytea not null,
  -- Of the whole body.
  body_bytes bigint not null,
  code text not null,
  message text not null,
  -- As a JSON array of texts.
  diagnosis text not null,
  constraint rejected_key primary key (id)
);

create index if not exists rejected_source on posthorn.rejected (source, id);

-- Readiness checks write this one row: a database that can be read may still refuse every write.
create table if not exists posthorn.probe (
  one boolean not null default true constraint probe_one check (one),
  node text not null,
  written_at timestamptz not null,
  constraint probe_key primary key (one)
);
