-- How far the log of a provider has been read, by the name of its repair.
create table if not exists posthorn_repair_cursor (
  name text not null primary key,
  cursor text not null,
  -- For people: when the last run ended.
  written_at integer not null
) strict, without rowid;
