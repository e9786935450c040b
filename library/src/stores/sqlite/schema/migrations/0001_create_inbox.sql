-- One row per event that arrived, and per consumer that handles it: '' stands for the receiver's own transaction. Times
-- are milliseconds since 1970.
-- A rowid table: without, bodies fill the inner pages of the key's tree, and beside bodies of 4 kB a lookup costs 3
-- times as much, an insert with a random id 2.8 times; only small bodies with time-ordered ids would gain (0.6 times).
create table if not exists posthorn_inbox (
  tenant text not null,
  source text not null,
  event_id text not null,
  consumer text not null default '',
  id_preview text,
  type text not null,
  event_at integer,
  outcome text not null
    check (outcome in ('success', 'skipped', 'failed', 'pending', 'held', 'dead', 'dropped')),
  -- 1, and one more with each replay: what a handler does once, it does once in each round.
  round integer not null default 1,
  -- The public id of the stored event that a worker has handled; null where it was handled within its request.
  stored_as text,
  attempts integer not null,
  receipts integer not null,
  received_at integer not null,
  last_received_at integer not null,
  -- Null: kept for ever, or until it is applied. A purge that removed a failed event would lose what was never applied.
  keep_until integer,
  result text,
  error text,
  -- Null where a worker has handled the event: stored_as has both, once for all consumers, as long as retention keeps it.
  headers text,
  body_hash blob not null,
  body blob,
  -- Of an event that failed within its request: a redrive puts it among the events of its key.
  ordering_key text,
  primary key (tenant, source, event_id, consumer)
) strict;

-- What a purge may remove, oldest first.
create index if not exists posthorn_inbox_keep_until on posthorn_inbox (keep_until) where keep_until is not null;

-- What people list.
create index if not exists posthorn_inbox_received_at on posthorn_inbox (received_at);

-- What people look for, among many that are well.
create index if not exists posthorn_inbox_unwell on posthorn_inbox (outcome, received_at)
where outcome not in ('success', 'skipped');

-- Attempts that failed; the one that succeeded is the row of the inbox itself.
create table if not exists posthorn_inbox_attempt (
  tenant text not null,
  source text not null,
  event_id text not null,
  consumer text not null default '',
  round integer not null default 1,
  attempt integer not null,
  failed_at integer not null,
  error text not null,
  -- The class of the error; null where nobody has classified it.
  fingerprint text,
  primary key (tenant, source, event_id, consumer, round, attempt)
) strict, without rowid;

-- Conflicts and stale events, apart from the inbox. One row per body: a sender that repeats one is counted.
create table if not exists posthorn_inbox_refused (
  tenant text not null,
  source text not null,
  event_id text not null,
  because text not null check (because in ('conflict', 'stale')),
  body_hash blob not null,
  id_preview text,
  type text not null,
  event_at integer,
  receipts integer not null,
  refused_at integer not null,
  last_refused_at integer not null,
  keep_until integer,
  headers text not null,
  body blob not null,
  ordering_key text,
  primary key (tenant, source, event_id, because, body_hash)
) strict;

create index if not exists posthorn_inbox_refused_keep_until on posthorn_inbox_refused (keep_until)
where keep_until is not null;

-- Always empty between transactions: its one row, while it is there, makes SQLite refuse a handler's `commit`.
create table if not exists posthorn_guard (
  id integer primary key,
  waits_for integer not null references posthorn_guard (id) deferrable initially deferred
) strict;

-- The newest version of each resource that a handler has met: what is older is dropped, and what is equal, unless the same event
-- brought it. Kept for ever: a row that is forgotten lets an old event win.
create table if not exists posthorn_newest (
  -- As in the inbox.
  consumer text not null,
  tenant text not null,
  source text not null,
  resource text not null,
  -- Numbers and times are never compared with each other.
  kind text not null check (kind in ('number', 'time')),
  -- A time in milliseconds since 1970.
  version integer not null,
  -- Which event brought it: its replay brings the same version, and is handled again.
  event_id text not null,
  seen_at integer not null,
  primary key (consumer, tenant, source, resource)
) strict, without rowid;
