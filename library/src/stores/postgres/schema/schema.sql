create table posthorn.attempt (
  lane_id bigint not null,
  seq bigint not null,
  round integer not null,
  no integer not null,
  event_id bigint not null,
  started_at timestamp with time zone not null,
  duration_ms integer not null,
  outcome text not null,
  status integer,
  error text,
  fingerprint text,
  url text,
  address text,
  request_headers text,
  timings text,
  answer bytea,
  constraint attempt_key PRIMARY KEY (lane_id, seq, round, no)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);
CREATE INDEX attempt_event ON posthorn.attempt USING btree (event_id) WHERE (no = 1);

create table posthorn.cancelled (
  id bigint not null,
  consumer_id bigint not null,
  lane_id bigint,
  seq bigint,
  loose_id bigint,
  event_id bigint not null,
  round integer not null,
  because text not null,
  cancelled_at timestamp with time zone not null,
  constraint cancelled_key PRIMARY KEY (id)
);
CREATE INDEX cancelled_cancelled_at ON posthorn.cancelled USING btree (cancelled_at);
CREATE INDEX cancelled_event ON posthorn.cancelled USING btree (event_id);
CREATE INDEX cancelled_lane ON posthorn.cancelled USING btree (lane_id, seq) WHERE (lane_id IS NOT NULL);
CREATE INDEX cancelled_loose ON posthorn.cancelled USING btree (loose_id) WHERE (loose_id IS NOT NULL);

create table posthorn.consumer (
  id bigint not null,
  public_id text collate "C" not null,
  kind text not null,
  tenant text collate "C" not null,
  definition text not null,
  ordered_by text not null,
  dead text,
  max_in_flight integer,
  state text not null,
  because text,
  version bigint not null,
  mark uuid not null,
  stopped_at timestamp with time zone,
  paused_until timestamp with time zone,
  paused_by text,
  seen_at timestamp with time zone,
  removed_at timestamp with time zone,
  cleared_at timestamp with time zone,
  constraint consumer_dead CHECK ((dead = ANY (ARRAY['halt'::text, 'skip'::text, 'park'::text]))),
  constraint consumer_key PRIMARY KEY (id),
  constraint consumer_kind CHECK ((kind = ANY (ARRAY['endpoint'::text, 'handler'::text]))),
  constraint consumer_max_in_flight CHECK (((kind = 'handler'::text) OR (max_in_flight IS NOT NULL))),
  constraint consumer_ordered_by CHECK ((ordered_by = ANY (ARRAY['key'::text, 'endpoint'::text, 'none'::text]))),
  constraint consumer_state CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'disabled'::text])))
);
CREATE UNIQUE INDEX consumer_public_id ON posthorn.consumer USING btree (public_id) WHERE (removed_at IS NULL);
CREATE INDEX consumer_tenant ON posthorn.consumer USING btree (tenant, public_id) WHERE (removed_at IS NULL);
CREATE INDEX consumer_uncleared ON posthorn.consumer USING btree (id) WHERE ((removed_at IS NOT NULL) AND (cleared_at IS NULL));

create table posthorn.dead (
  id bigint not null,
  consumer_id bigint not null,
  lane_id bigint,
  seq bigint,
  loose_id bigint,
  event_id bigint not null,
  round integer not null,
  because text not null,
  attempts integer not null,
  last_status integer,
  last_error text,
  died_at timestamp with time zone not null,
  resolved_at timestamp with time zone,
  resolved_how text,
  constraint dead_key PRIMARY KEY (id),
  constraint dead_place CHECK ((((lane_id IS NULL) = (seq IS NULL)) AND ((lane_id IS NULL) <> (loose_id IS NULL)))),
  constraint dead_resolved CHECK (((resolved_at IS NULL) = (resolved_how IS NULL))),
  constraint dead_resolved_how CHECK ((resolved_how = ANY (ARRAY['redriven'::text, 'skipped'::text, 'cancelled'::text, 'forgotten'::text])))
);
CREATE INDEX dead_alike ON posthorn.dead USING btree (consumer_id, because, COALESCE(last_status, 0), COALESCE(last_error, ''::text), died_at, id) WHERE (resolved_at IS NULL);
CREATE INDEX dead_consumer ON posthorn.dead USING btree (consumer_id) WHERE (resolved_at IS NULL);
CREATE INDEX dead_event ON posthorn.dead USING btree (event_id);
CREATE UNIQUE INDEX dead_lane ON posthorn.dead USING btree (lane_id, seq, round) WHERE (lane_id IS NOT NULL);
CREATE INDEX dead_listed ON posthorn.dead USING btree (died_at, id) WHERE (resolved_at IS NULL);
CREATE UNIQUE INDEX dead_loose ON posthorn.dead USING btree (loose_id, round) WHERE (loose_id IS NOT NULL);
CREATE INDEX dead_resolved_at ON posthorn.dead USING btree (resolved_at) WHERE (resolved_at IS NOT NULL);
-- trigger dead_added calls count_dead_added
-- trigger dead_changed calls count_dead_changed
-- trigger dead_removed calls count_dead_removed

create table posthorn.dead_change (
  id bigint not null,
  consumer_id bigint not null,
  because text not null,
  status integer not null,
  error text not null,
  change bigint not null,
  constraint dead_change_key PRIMARY KEY (id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);

create table posthorn.dead_group (
  consumer_id bigint not null,
  because text not null,
  status integer not null,
  error text not null,
  count bigint not null,
  constraint dead_group_key PRIMARY KEY (consumer_id, because, status, error)
);

create table posthorn.dedup (
  scope text collate "C" not null,
  id text collate "C" not null,
  expires_at timestamp with time zone not null,
  mark bigint not null,
  constraint dedup_key PRIMARY KEY (scope, id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);
CREATE INDEX dedup_expires_at ON posthorn.dedup USING btree (expires_at);

create table posthorn.delivery (
  lane_id bigint not null,
  seq bigint not null,
  event_id bigint not null,
  round integer not null,
  constraint delivery_key PRIMARY KEY (lane_id, seq)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);
CREATE INDEX delivery_event ON posthorn.delivery USING btree (event_id);

create table posthorn.event (
  id bigint not null,
  public_id text collate "C" not null,
  direction text not null,
  tenant text collate "C" not null,
  source text collate "C" not null,
  type text collate "C" not null,
  key text collate "C",
  content_type text not null,
  headers text,
  event_at timestamp with time zone not null,
  written_at timestamp with time zone not null,
  deliver_at timestamp with time zone,
  expires_at timestamp with time zone,
  provider_id text,
  verified_by text,
  caused_by text,
  receipt text,
  body bytea not null,
  constraint event_direction CHECK ((direction = ANY (ARRAY['in'::text, 'out'::text]))),
  constraint event_key PRIMARY KEY (id) INCLUDE (tenant, source, type, key)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);
CREATE INDEX event_public_id ON posthorn.event USING btree (public_id);

create table posthorn.filled (
  tenant text collate "C" not null,
  source text collate "C" not null,
  key text collate "C" not null,
  generation bigint not null,
  seq bigint not null,
  after_seq bigint,
  judged boolean not null,
  filled_at timestamp with time zone not null,
  constraint filled_key PRIMARY KEY (tenant, source, key, generation, seq)
);
CREATE INDEX filled_at ON posthorn.filled USING btree (filled_at);
CREATE INDEX filled_new ON posthorn.filled USING btree (tenant, source, key) WHERE (NOT judged);

create table posthorn.held (
  tenant text collate "C" not null,
  source text collate "C" not null,
  key text collate "C" not null,
  generation bigint not null,
  seq bigint not null,
  event_id bigint not null,
  stage_id bigint not null,
  until timestamp with time zone not null,
  constraint held_key PRIMARY KEY (tenant, source, key, generation, seq, event_id)
);
CREATE INDEX held_event ON posthorn.held USING btree (event_id);
CREATE INDEX held_until ON posthorn.held USING btree (until);

create table posthorn.hold (
  tenant text collate "C" not null,
  source text collate "C" not null,
  key text collate "C" not null,
  generation bigint not null,
  last_seq bigint not null,
  seen_at timestamp with time zone not null,
  constraint hold_key PRIMARY KEY (tenant, source, key)
) with (fillfactor=80);
CREATE INDEX hold_seen_at ON posthorn.hold USING btree (seen_at);

create table posthorn.inbox (
  tenant text collate "C" not null,
  source text collate "C" not null,
  event_id text collate "C" not null,
  consumer text collate "C" not null,
  round integer not null,
  stored_as text collate "C",
  id_preview text,
  type text not null,
  event_at timestamp with time zone,
  outcome text not null,
  attempts integer not null,
  receipts integer not null,
  received_at timestamp with time zone not null,
  last_received_at timestamp with time zone not null,
  keep_until timestamp with time zone,
  result text,
  error text,
  headers text,
  body_hash bytea not null,
  body bytea,
  ordering_key text collate "C",
  constraint inbox_failed_is_kept CHECK (((outcome <> ALL (ARRAY['failed'::text, 'pending'::text])) OR (keep_until IS NULL))),
  constraint inbox_key PRIMARY KEY (tenant, source, event_id, consumer),
  constraint inbox_outcome CHECK ((outcome = ANY (ARRAY['success'::text, 'skipped'::text, 'failed'::text, 'pending'::text, 'held'::text, 'dead'::text, 'dropped'::text])))
) with (fillfactor=90, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);
CREATE INDEX inbox_keep_until ON posthorn.inbox USING btree (keep_until) WHERE (keep_until IS NOT NULL);
CREATE INDEX inbox_received_at ON posthorn.inbox USING btree (received_at);
CREATE INDEX inbox_unwell ON posthorn.inbox USING btree (outcome, received_at) WHERE (outcome <> ALL (ARRAY['success'::text, 'skipped'::text]));

create table posthorn.inbox_attempt (
  tenant text collate "C" not null,
  source text collate "C" not null,
  event_id text collate "C" not null,
  consumer text collate "C" not null,
  round integer not null,
  attempt integer not null,
  failed_at timestamp with time zone not null,
  error text not null,
  fingerprint text,
  constraint inbox_attempt_key PRIMARY KEY (tenant, source, event_id, consumer, round, attempt)
);

create table posthorn.inbox_refused (
  tenant text collate "C" not null,
  source text collate "C" not null,
  event_id text collate "C" not null,
  because text not null,
  body_hash bytea not null,
  id_preview text,
  type text not null,
  event_at timestamp with time zone,
  receipts integer not null,
  refused_at timestamp with time zone not null,
  last_refused_at timestamp with time zone not null,
  keep_until timestamp with time zone,
  headers text not null,
  body bytea not null,
  ordering_key text collate "C",
  constraint inbox_refused_because CHECK ((because = ANY (ARRAY['conflict'::text, 'stale'::text]))),
  constraint inbox_refused_key PRIMARY KEY (tenant, source, event_id, because, body_hash)
);
CREATE INDEX inbox_refused_keep_until ON posthorn.inbox_refused USING btree (keep_until) WHERE (keep_until IS NOT NULL);

create table posthorn.ingest_name (
  tenant text collate "C" not null,
  name text collate "C" not null,
  event_id text collate "C" not null,
  body_hash bytea,
  keep_until timestamp with time zone,
  constraint ingest_name_key PRIMARY KEY (tenant, name)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);
CREATE INDEX ingest_name_keep_until ON posthorn.ingest_name USING btree (keep_until) WHERE (keep_until IS NOT NULL);

create table posthorn.ingest_repeat (
  id bigint not null,
  tenant text collate "C" not null,
  event_id text collate "C" not null,
  kind text not null,
  receipts integer not null,
  received_at timestamp with time zone not null,
  last_received_at timestamp with time zone not null,
  headers text not null,
  body_hash bytea not null,
  body bytea,
  keep_until timestamp with time zone,
  constraint ingest_repeat_body UNIQUE (tenant, event_id, kind, body_hash),
  constraint ingest_repeat_key PRIMARY KEY (id),
  constraint ingest_repeat_kind CHECK ((kind = ANY (ARRAY['duplicate'::text, 'conflict'::text])))
);
CREATE INDEX ingest_repeat_keep_until ON posthorn.ingest_repeat USING btree (keep_until) WHERE (keep_until IS NOT NULL);

create table posthorn.lane (
  lane_id bigint not null,
  consumer_id bigint not null,
  tenant text collate "C" not null,
  source text collate "C" not null,
  key text collate "C" not null,
  generation bigint not null,
  constraint lane_key PRIMARY KEY (lane_id),
  constraint lane_name UNIQUE (consumer_id, tenant, source, key)
);

create table posthorn.lane_state (
  lane_id bigint not null,
  consumer_id bigint not null,
  next_seq bigint not null,
  head_seq bigint not null,
  last_seq bigint,
  ready_at timestamp with time zone,
  leased_at timestamp with time zone,
  leased_until timestamp with time zone,
  blocked_at timestamp with time zone,
  epoch bigint not null,
  suspect_until bigint,
  attempts integer not null,
  failures integer not null,
  lapses smallint not null,
  run_len smallint not null,
  state text not null,
  intent text,
  leased_by text,
  brief_at timestamp with time zone,
  constraint lane_state_intent CHECK ((intent = 'skip'::text)),
  constraint lane_state_key PRIMARY KEY (lane_id),
  constraint lane_state_state CHECK ((state = ANY (ARRAY['flowing'::text, 'halted'::text, 'parked'::text])))
) with (fillfactor=60, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_delay=0);
CREATE INDEX lane_state_alone ON posthorn.lane_state USING btree (ready_at) WHERE (lapses >= 3);
CREATE INDEX lane_state_blocked ON posthorn.lane_state USING btree (blocked_at, lane_id) WHERE (blocked_at IS NOT NULL);
CREATE INDEX lane_state_brief ON posthorn.lane_state USING btree (consumer_id, brief_at) WHERE (brief_at IS NOT NULL);
CREATE INDEX lane_state_leased ON posthorn.lane_state USING btree (leased_by) WHERE (leased_by IS NOT NULL);
CREATE INDEX lane_state_ready ON posthorn.lane_state USING btree (consumer_id, ready_at) WHERE (ready_at IS NOT NULL);

create table posthorn.later (
  deliver_at timestamp with time zone not null,
  event_id bigint not null,
  constraint later_key PRIMARY KEY (deliver_at, event_id)
);

create table posthorn.loose_attempt (
  delivery_id bigint not null,
  round integer not null,
  no integer not null,
  event_id bigint not null,
  consumer_id bigint not null,
  started_at timestamp with time zone not null,
  duration_ms integer not null,
  outcome text not null,
  status integer,
  error text,
  fingerprint text,
  url text,
  address text,
  request_headers text,
  timings text,
  answer bytea,
  constraint loose_attempt_key PRIMARY KEY (delivery_id, round, no)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);
CREATE INDEX loose_attempt_event ON posthorn.loose_attempt USING btree (event_id) WHERE (no = 1);

create table posthorn.loose_delivery (
  id bigint not null,
  consumer_id bigint not null,
  event_id bigint not null,
  ready_at timestamp with time zone,
  leased_at timestamp with time zone,
  leased_until timestamp with time zone,
  epoch bigint not null,
  round integer not null,
  attempts integer not null,
  failures integer not null,
  lapses smallint not null,
  leased_by text,
  constraint loose_delivery_key PRIMARY KEY (id)
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_delay=0);
CREATE INDEX loose_delivery_alone ON posthorn.loose_delivery USING btree (ready_at) WHERE (lapses >= 3);
CREATE INDEX loose_delivery_leased ON posthorn.loose_delivery USING btree (leased_by) WHERE (leased_by IS NOT NULL);
CREATE INDEX loose_delivery_ready ON posthorn.loose_delivery USING btree (consumer_id, ready_at) INCLUDE (event_id, id) WHERE (ready_at IS NOT NULL);

create table posthorn.migration (
  version integer not null,
  name text not null,
  applied_at timestamp with time zone not null,
  constraint migration_key PRIMARY KEY (version)
);

create table posthorn.newest (
  consumer text collate "C" not null,
  tenant text collate "C" not null,
  source text collate "C" not null,
  resource text collate "C" not null,
  kind text not null,
  version bigint not null,
  event_id text collate "C" not null,
  seen_at timestamp with time zone not null,
  constraint newest_key PRIMARY KEY (consumer, tenant, source, resource),
  constraint newest_kind CHECK ((kind = ANY (ARRAY['number'::text, 'time'::text])))
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0.02);

create table posthorn.outbox_config (
  one boolean not null,
  mark uuid not null,
  generation bigint not null,
  unclaimed_after bigint,
  unclaimed_sources text,
  constraint outbox_config_key PRIMARY KEY (one),
  constraint outbox_config_one CHECK (one)
);

create table posthorn.outbox_key (
  tenant text collate "C" not null,
  public_id text collate "C" not null,
  content_hash bytea not null,
  keep_until timestamp with time zone,
  constraint outbox_key_key PRIMARY KEY (tenant, public_id)
);
CREATE INDEX outbox_key_keep_until ON posthorn.outbox_key USING btree (keep_until) WHERE (keep_until IS NOT NULL);

create table posthorn.repair_cursor (
  name text collate "C" not null,
  cursor text not null,
  written_at timestamp with time zone not null,
  constraint repair_cursor_key PRIMARY KEY (name)
);

create table posthorn.retention (
  kind text not null,
  up_to bigint not null,
  removed bigint not null,
  passed_at timestamp with time zone,
  constraint retention_key PRIMARY KEY (kind)
);

create table posthorn.seen_time (
  one boolean not null,
  seen_at timestamp with time zone not null,
  constraint seen_time_key PRIMARY KEY (one),
  constraint seen_time_one CHECK (one)
);

create table posthorn.stage (
  tenant text collate "C" not null,
  id bigint not null,
  event_id bigint not null,
  target_consumer_id bigint,
  round integer not null,
  after_consumer_id bigint,
  constraint stage_key PRIMARY KEY (tenant, id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);

create table posthorn.stage_dead (
  id bigint not null,
  tenant text collate "C" not null,
  event_id bigint not null,
  target_consumer_id bigint,
  round integer not null,
  after_consumer_id bigint,
  error text not null,
  died_at timestamp with time zone not null,
  resolved_at timestamp with time zone,
  constraint stage_dead_key PRIMARY KEY (id)
);
CREATE INDEX stage_dead_event ON posthorn.stage_dead USING btree (event_id);
CREATE INDEX stage_dead_listed ON posthorn.stage_dead USING btree (id) WHERE (resolved_at IS NULL);
CREATE INDEX stage_dead_resolved_at ON posthorn.stage_dead USING btree (resolved_at) WHERE (resolved_at IS NOT NULL);

create table posthorn.step (
  tenant text collate "C" not null,
  source text collate "C" not null,
  event_id text collate "C" not null,
  consumer text collate "C" not null,
  round integer not null,
  step text collate "C" not null,
  stored_as text collate "C" not null,
  tries integer not null,
  begun_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  result text,
  constraint step_key PRIMARY KEY (tenant, source, event_id, consumer, round, step)
);
CREATE INDEX step_stored_as ON posthorn.step USING btree (stored_as);
