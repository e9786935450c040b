-- Created only where it is missing: `create schema if not exists` wants the right to create schemas even where an
-- administrator has created this one.
do $$
begin
  if to_regnamespace('posthorn') is null then
    create schema posthorn;
  end if;
end
$$;

-- One row per event and consumer. Keys are compared byte by byte: a collation would make the index slower, and might
-- call two ids equal. Keys are stored as the sender wrote them, not hashed, so that time-ordered ids land side by side:
-- hashed ones cost 1.35 times as much at 5 million rows, and 4 times the WAL.
create table if not exists posthorn.inbox (
  tenant text collate "C" not null,
  source text collate "C" not null,
  event_id text collate "C" not null,
  -- Which handler; '' is the one that runs inside the receiver's transaction.
  consumer text collate "C" not null default '',
  -- 1, and one more with each replay: what a handler does once, it does once in each round.
  round integer not null default 1,
  -- The public id of the stored event that a worker has handled; null where it was handled within its request.
  stored_as text collate "C",
  id_preview text,
  type text not null,
  event_at timestamptz,
  outcome text not null constraint inbox_outcome
    check (outcome in ('success', 'skipped', 'failed', 'pending', 'held', 'dead', 'dropped')),
  attempts integer not null,
  receipts integer not null,
  received_at timestamptz not null,
  last_received_at timestamptz not null,
  -- Null: kept for ever, or until the event is applied.
  keep_until timestamptz,
  result text,
  error text,
  -- Null where a worker has handled the event: stored_as has both, once for all consumers, as long as retention keeps it.
  headers text,
  body_hash bytea not null,
  body bytea,
  -- Of an event that failed within its request: a redrive puts it among the events of its key.
  ordering_key text collate "C",
  constraint inbox_key primary key (tenant, source, event_id, consumer),
  -- A purge looks at the time alone: it would remove a failed event before its sender delivers it again, and the round of
  -- one that is to be replayed.
  constraint inbox_failed_is_kept check (outcome not in ('failed', 'pending') or keep_until is null)
) with (
  -- A handler's result is written to the row that its own transaction has inserted; with room on the page, the update
  -- leaves the indexes alone.
  fillfactor = 90,
  -- A purge leaves as many dead rows as a day brought new ones: the default waits until a fifth of the table is dead.
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05
);

-- What a purge may remove, oldest first. New rows are added at its right end.
create index if not exists inbox_keep_until on posthorn.inbox (keep_until) where keep_until is not null;

-- What people list. New rows are added at its right end.
create index if not exists inbox_received_at on posthorn.inbox (received_at);

-- What people look for, among millions that are well.
create index if not exists inbox_unwell on posthorn.inbox (outcome, received_at)
where outcome not in ('success', 'skipped');

-- Attempts that failed; the one that succeeded is the row of the inbox itself.
create table if not exists posthorn.inbox_attempt (
  tenant text collate "C" not null,
  source text collate "C" not null,
  event_id text collate "C" not null,
  consumer text collate "C" not null default '',
  round integer not null default 1,
  attempt integer not null,
  failed_at timestamptz not null,
  error text not null,
  -- The class of the error: failures of one cause have the same.
  fingerprint text,
  constraint inbox_attempt_key primary key (tenant, source, event_id, consumer, round, attempt)
);

-- Conflicts and stale events, apart from the inbox. One row per body: a sender that repeats one is counted.
create table if not exists posthorn.inbox_refused (
  tenant text collate "C" not null,
  source text collate "C" not null,
  event_id text collate "C" not null,
  because text not null constraint inbox_refused_because check (because in ('conflict', 'stale')),
  body_hash bytea not null,
  id_preview text,
  type text not null,
  event_at timestamptz,
  receipts integer not null,
  refused_at timestamptz not null,
  last_refused_at timestamptz not null,
  keep_until timestamptz,
  headers text not null,
  body bytea not null,
  ordering_key text collate "C",
  constraint inbox_refused_key primary key (tenant, source, event_id, because, body_hash)
);

create index if not exists inbox_refused_keep_until on posthorn.inbox_refused (keep_until)
where keep_until is not null;

-- The newest version of each resource that a handler has met: what is older is dropped, and what is equal, unless the same event
-- brought it. Kept for ever: a row that is forgotten lets an old event win.
create table if not exists posthorn.newest (
  -- As in the inbox.
  consumer text collate "C" not null,
  tenant text collate "C" not null,
  source text collate "C" not null,
  resource text collate "C" not null,
  -- Numbers and times are never compared with each other.
  kind text not null constraint newest_kind check (kind in ('number', 'time')),
  -- A time in milliseconds since 1970.
  version bigint not null,
  -- Which event brought it: its replay brings the same version, and is handled again.
  event_id text collate "C" not null,
  seen_at timestamptz not null,
  constraint newest_key primary key (consumer, tenant, source, resource)
) with (
  -- Every newer version updates its row; room on the page leaves the key's index alone.
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.02
);
