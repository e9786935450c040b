-- What each node has counted, by minute and by hour. A node writes its own rows, whole, so that a write whose answer was
-- lost can be repeated; readers add the rows of all nodes.
create table if not exists posthorn_series (
  step integer not null check (step in (60, 3600)),
  kind text not null check (kind in ('total', 'source', 'endpoint')),
  at integer not null,
  name text not null,
  -- Unique per start of a node.
  node text not null,
  -- JSON.
  counts text not null,
  -- Histograms, as `bucket:count …`.
  duration text not null,
  lag text not null,
  primary key (step, kind, at, name, node)
) strict, without rowid;

create table if not exists posthorn_node (
  name text primary key,
  roles text not null,
  version text not null,
  started_at integer not null,
  seen_at integer not null
) strict;
