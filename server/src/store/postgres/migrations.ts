// Written by scripts/build-migrations.ts from migrations/*.sql: change those, and run it.

/** The migrations of these tables, in order, for those who run them by tools of their own. */
export const SERVER_MIGRATIONS = [
  {
    version: 1,
    name: "0001_create_registry",
    sql: `-- Where inbound events come from. Secrets are sealed: a copy of the database is of no use without the master key.
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
  {
    version: 3,
    name: "0003_create_series",
    sql: `-- What each node has counted, by minute and by hour. A node writes its own rows, whole, so that a write whose answer was
-- lost can be repeated; readers add the rows of all nodes.
create table if not exists posthorn.series (
  step integer not null constraint series_step check (step in (60, 3600)),
  kind text not null constraint series_kind check (kind in ('total', 'source', 'endpoint')),
  at timestamptz not null,
  name text collate "C" not null,
  -- Unique per start of a node.
  node text not null,
  -- JSON.
  counts text not null,
  -- Histograms, as \`bucket:count …\`.
  duration text not null,
  lag text not null,
  constraint series_key primary key (step, kind, at, name, node)
  -- Rows of the current step are written every few seconds: room in the page spares the index.
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

create table if not exists posthorn.node (
  name text not null,
  roles text not null,
  version text not null,
  started_at timestamptz not null,
  seen_at timestamptz not null,
  constraint node_key primary key (name)
);
`,
  },
  {
    version: 4,
    name: "0004_create_operations",
    sql: `-- What operators do to many deliveries at once: planned, then run step by step by whichever node has leased it.
create table if not exists posthorn.operation (
  id text collate "C" not null,
  verb text not null,
  state text not null constraint operation_state
    check (state in ('planned', 'running', 'stopping', 'stopped', 'finished', 'failed')),
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
  planned_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  -- Who has it, until when, and the fence of the lease.
  node text,
  leased_until timestamptz,
  epoch bigint not null default 0,
  constraint operation_key primary key (id)
);

create index if not exists operation_by_state on posthorn.operation (state, id);

create index if not exists operation_by_verb on posthorn.operation (verb, id) where state <> 'planned';

create table if not exists posthorn.operation_item (
  operation_id text collate "C" not null,
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
  done_at timestamptz,
  constraint operation_item_key primary key (operation_id, number)
);

create index if not exists operation_item_result on posthorn.operation_item (operation_id, result, number);

-- Who did what to an event, for its story: to it, or to all that waited in its lane.
create index if not exists operation_item_event on posthorn.operation_item (event_id) where event_id is not null;

create index if not exists operation_item_lane on posthorn.operation_item (lane_id) where event_id is null;

-- Every change by the API: who, what, before and after. Written before the change, and completed after it.
create table if not exists posthorn.audit (
  id text collate "C" not null,
  at timestamptz not null,
  token_id text collate "C" not null,
  token_name text not null,
  via text not null,
  action text collate "C" not null,
  kind text collate "C" not null,
  subject text collate "C",
  -- As the API shows it, as JSON; never a secret.
  before text,
  after text,
  note text,
  -- Null: the process ended before it knew.
  status integer,
  request_id text not null,
  constraint audit_key primary key (id)
);

create index if not exists audit_token on posthorn.audit (token_id, id);

create index if not exists audit_action on posthorn.audit (action, id);

create index if not exists audit_kind on posthorn.audit (kind, id);

create index if not exists audit_subject on posthorn.audit (subject, id) where subject is not null;

-- What operators noted about groups of dead letters.
create table if not exists posthorn.dead_note (
  group_id text collate "C" not null,
  text text not null,
  written_by text not null,
  written_at timestamptz not null,
  constraint dead_note_key primary key (group_id)
);
`,
  },
] as const;
