create table posthorn.inbox (
  tenant text collate "C" not null,
  source text collate "C" not null,
  event_id text collate "C" not null,
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
  headers text not null,
  body_hash bytea not null,
  body bytea not null,
  constraint inbox_key PRIMARY KEY (tenant, source, event_id),
  constraint inbox_outcome CHECK ((outcome = ANY (ARRAY['success'::text, 'skipped'::text, 'failed'::text])))
) with (fillfactor=90, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);
CREATE INDEX inbox_keep_until ON posthorn.inbox USING btree (keep_until) WHERE (keep_until IS NOT NULL);

create table posthorn.inbox_attempt (
  tenant text collate "C" not null,
  source text collate "C" not null,
  event_id text collate "C" not null,
  attempt integer not null,
  failed_at timestamp with time zone not null,
  error text not null,
  constraint inbox_attempt_key PRIMARY KEY (tenant, source, event_id, attempt)
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
  constraint inbox_refused_because CHECK ((because = ANY (ARRAY['conflict'::text, 'stale'::text]))),
  constraint inbox_refused_key PRIMARY KEY (tenant, source, event_id, because, body_hash)
);
CREATE INDEX inbox_refused_keep_until ON posthorn.inbox_refused USING btree (keep_until) WHERE (keep_until IS NOT NULL);

create table posthorn.migration (
  version integer not null,
  name text not null,
  applied_at timestamp with time zone not null,
  constraint migration_key PRIMARY KEY (version)
);

create table posthorn.posthorn_dedup (
  id text collate "C" not null,
  expires_at timestamp with time zone not null,
  mark bigint not null,
  constraint posthorn_dedup_key PRIMARY KEY (id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);
CREATE INDEX posthorn_dedup_expires_at ON posthorn.posthorn_dedup USING btree (expires_at);
