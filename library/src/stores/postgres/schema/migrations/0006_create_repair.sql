-- How far the log of a provider has been read, by the name of its repair.
create table if not exists posthorn.repair_cursor (
  name text collate "C" not null,
  cursor text not null,
  -- For people: when the last run ended.
  written_at timestamptz not null default now(),
  constraint repair_cursor_key primary key (name)
);
