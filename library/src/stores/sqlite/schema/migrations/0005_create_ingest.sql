-- Names under which events came from elsewhere: the id that their sender gave, or a hash of their content.
create table if not exists posthorn_ingest_name (
  tenant text not null,
  name text not null,
  -- The public id of the event that came first under it.
  event_id text not null,
  -- Null: another body is no conflict.
  body_hash blob,
  -- Null: known for ever.
  keep_until integer,
  primary key (tenant, name)
) strict, without rowid;

create index if not exists posthorn_ingest_name_keep_until on posthorn_ingest_name (keep_until)
where keep_until is not null;

-- Duplicates and conflicts of what came from elsewhere, with their bytes. One row per body: a sender that repeats one is
-- counted.
create table if not exists posthorn_ingest_repeat (
  id integer primary key autoincrement,
  tenant text not null,
  -- The public id of the event that came first.
  event_id text not null,
  kind text not null check (kind in ('duplicate', 'conflict')),
  receipts integer not null,
  received_at integer not null,
  last_received_at integer not null,
  headers text not null,
  body_hash blob not null,
  -- Null where it is equal to the stored event's.
  body blob,
  keep_until integer,
  unique (tenant, event_id, kind, body_hash)
) strict;

create index if not exists posthorn_ingest_repeat_keep_until on posthorn_ingest_repeat (keep_until)
where keep_until is not null;
