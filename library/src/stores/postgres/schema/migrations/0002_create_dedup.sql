-- Ids that were seen, until they expire. The mark tells the writer of a row, when it lost the answer to its insert,
-- whether the row is its own.
create table if not exists posthorn.posthorn_dedup (
  id text collate "C" not null,
  expires_at timestamptz not null,
  mark bigint not null,
  constraint posthorn_dedup_key primary key (id)
) with (
  -- Expired ids are removed as new ones come: the default would let the table grow by a fifth before it is swept.
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05
);

create index if not exists posthorn_dedup_expires_at on posthorn.posthorn_dedup (expires_at);
