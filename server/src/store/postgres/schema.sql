create table posthorn.audit (
  id text collate "C" not null,
  at timestamp with time zone not null,
  token_id text collate "C" not null,
  token_name text not null,
  via text not null,
  action text collate "C" not null,
  kind text collate "C" not null,
  subject text collate "C",
  before text,
  after text,
  note text,
  status integer,
  request_id text not null,
  constraint audit_key PRIMARY KEY (id)
);
CREATE INDEX audit_action ON posthorn.audit USING btree (action, id);
CREATE INDEX audit_kind ON posthorn.audit USING btree (kind, id);
CREATE INDEX audit_subject ON posthorn.audit USING btree (subject, id) WHERE (subject IS NOT NULL);
CREATE INDEX audit_token ON posthorn.audit USING btree (token_id, id);

create table posthorn.dead_note (
  group_id text collate "C" not null,
  text text not null,
  written_by text not null,
  written_at timestamp with time zone not null,
  constraint dead_note_key PRIMARY KEY (group_id)
);

create table posthorn.node (
  name text not null,
  roles text not null,
  version text not null,
  started_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  constraint node_key PRIMARY KEY (name)
);

create table posthorn.operation (
  id text collate "C" not null,
  verb text not null,
  state text not null,
  filter text not null,
  plan text not null,
  planned_by text not null,
  run_by text,
  stopped_by text,
  note text,
  rate integer not null,
  after text,
  done integer not null,
  results text not null,
  message text,
  planned_at timestamp with time zone not null,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  node text,
  leased_until timestamp with time zone,
  epoch bigint not null,
  constraint operation_key PRIMARY KEY (id),
  constraint operation_state CHECK ((state = ANY (ARRAY['planned'::text, 'running'::text, 'stopping'::text, 'stopped'::text, 'finished'::text, 'failed'::text])))
);
CREATE INDEX operation_by_state ON posthorn.operation USING btree (state, id);
CREATE INDEX operation_by_verb ON posthorn.operation USING btree (verb, id) WHERE (state <> 'planned'::text);

create table posthorn.operation_item (
  operation_id text collate "C" not null,
  number integer not null,
  delivery_id text,
  lane_id text,
  round integer,
  through text,
  event_id text,
  endpoint_id text,
  result text not null,
  count integer not null,
  done_at timestamp with time zone,
  constraint operation_item_key PRIMARY KEY (operation_id, number)
);
CREATE INDEX operation_item_event ON posthorn.operation_item USING btree (event_id) WHERE (event_id IS NOT NULL);
CREATE INDEX operation_item_lane ON posthorn.operation_item USING btree (lane_id) WHERE (event_id IS NULL);
CREATE INDEX operation_item_result ON posthorn.operation_item USING btree (operation_id, result, number);

create table posthorn.probe (
  one boolean not null,
  node text not null,
  written_at timestamp with time zone not null,
  constraint probe_key PRIMARY KEY (one),
  constraint probe_one CHECK (one)
);

create table posthorn.rejected (
  id text collate "C" not null,
  source text collate "C" not null,
  received_at timestamp with time zone not null,
  method text not null,
  headers text not null,
  request_sealed text,
  body bytea not null,
  body_bytes bigint not null,
  code text not null,
  message text not null,
  diagnosis text not null,
  constraint rejected_key PRIMARY KEY (id)
);
CREATE INDEX rejected_source ON posthorn.rejected USING btree (source, id);

create table posthorn.series (
  step integer not null,
  kind text not null,
  at timestamp with time zone not null,
  name text collate "C" not null,
  node text not null,
  counts text not null,
  duration text not null,
  lag text not null,
  constraint series_key PRIMARY KEY (step, kind, at, name, node),
  constraint series_kind CHECK ((kind = ANY (ARRAY['total'::text, 'source'::text, 'endpoint'::text]))),
  constraint series_step CHECK ((step = ANY (ARRAY[60, 3600])))
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0.05);

create table posthorn.server_migration (
  version integer not null,
  name text not null,
  applied_at timestamp with time zone not null,
  constraint server_migration_key PRIMARY KEY (version)
);

create table posthorn.session (
  hash bytea not null,
  token_id text collate "C" not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint session_key PRIMARY KEY (hash)
);

create table posthorn.source (
  name text collate "C" not null,
  tenant text collate "C" not null,
  scheme text not null,
  secrets text not null,
  definition text not null,
  created_at timestamp with time zone not null,
  version bigint not null,
  constraint source_key PRIMARY KEY (name)
);

create table posthorn.source_config (
  one boolean not null,
  version bigint not null,
  constraint source_config_key PRIMARY KEY (one),
  constraint source_config_one CHECK (one)
);

create table posthorn.token (
  id text collate "C" not null,
  name text not null,
  scope text not null,
  hash bytea not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  first boolean not null,
  constraint token_hash UNIQUE (hash),
  constraint token_key PRIMARY KEY (id),
  constraint token_scope CHECK ((scope = ANY (ARRAY['read'::text, 'full'::text, 'metrics'::text])))
);
CREATE UNIQUE INDEX token_first ON posthorn.token USING btree (first) WHERE first;
