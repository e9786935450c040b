-- What each node has counted, by minute and by hour. A node writes its own rows, whole, so that a write whose answer was
-- lost can be repeated; readers add the rows of all nodes.
create table if not exists posthorn.series (
  step integer not null constraint series_step check (step in (60, 3600)),
  kind text not null constraint series_kind check (kind in ('total', 'source', 'endpoint')),
  at timestamptz not null,
  name text collate "C" not null,
  -- Unique per start of a node.
  node text not null,
  -- JSON.
  counts text not null,
  -- Histograms, as `bucket:count …`.
  duration text not null,
  lag text not null,
  constraint series_key primary key (step, kind, at, name, node)
  -- Rows of the current step are written every few seconds: room in the page spares the index.
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

create table if not exists posthorn.node (
  name text not null,
  roles text not null,
  version text not null,
  started_at timestamptz not null,
  seen_at timestamptz not null,
  constraint node_key primary key (name)
);
