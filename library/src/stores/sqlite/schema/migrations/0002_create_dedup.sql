-- Ids that were seen, until they expire. Without rowid: the row is little more than its key.
create table if not exists posthorn_dedup (
  scope text not null default '',
  id text not null,
  expires_at integer not null,
  primary key (scope, id)
) strict, without rowid;

create index if not exists posthorn_dedup_expires_at on posthorn_dedup (expires_at);
