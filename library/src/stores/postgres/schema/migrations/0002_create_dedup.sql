-- Ids that were seen, until they expire. The mark tells the writer of a row, when it lost the answer to its insert,
-- whether the row is its own.
create table if not exists posthorn.dedup (
  -- Ids of one scope know nothing of those of another.
  scope text collate "C" not null default '',
  id text collate "C" not null,
  expires_at timestamptz not null,
  mark bigint not null,
  constraint dedup_key primary key (scope, id)
) with (
  -- Expired ids are removed as new ones arrive: the default would let the table grow by a fifth before a vacuum.
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05
);

create index if not exists dedup_expires_at on posthorn.dedup (expires_at);
