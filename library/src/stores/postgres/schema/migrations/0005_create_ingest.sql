-- Names under which events came from elsewhere: the id that their sender gave, or a hash of their content.
create table if not exists posthorn.ingest_name (
  tenant text collate "C" not null,
  name text collate "C" not null,
  -- The public id of the event that came first under it.
  event_id text collate "C" not null,
  -- Null: another body is no conflict.
  body_hash bytea,
  -- Null: known for ever.
  keep_until timestamptz,
  constraint ingest_name_key primary key (tenant, name)
) with (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05
);

-- What may be forgotten, oldest first. New names are added at its right end.
create index if not exists ingest_name_keep_until on posthorn.ingest_name (keep_until) where keep_until is not null;

-- Duplicates and conflicts of events that were taken in. One row per body: a sender that repeats one is counted.
create table if not exists posthorn.ingest_repeat (
  id bigint generated always as identity (cache 1),
  tenant text collate "C" not null,
  -- The public id of the event that came first.
  event_id text collate "C" not null,
  kind text not null constraint ingest_repeat_kind check (kind in ('duplicate', 'conflict')),
  receipts integer not null,
  received_at timestamptz not null,
  last_received_at timestamptz not null,
  headers text not null,
  body_hash bytea not null,
  -- Null where it equals the stored event's.
  body bytea,
  keep_until timestamptz,
  constraint ingest_repeat_key primary key (id),
  constraint ingest_repeat_body unique (tenant, event_id, kind, body_hash)
);

create index if not exists ingest_repeat_keep_until on posthorn.ingest_repeat (keep_until)
where keep_until is not null;
