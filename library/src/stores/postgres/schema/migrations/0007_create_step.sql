-- Steps of long handlers, with what they came to: a handler that runs again does not do them again.
create table if not exists posthorn.step (
  tenant text collate "C" not null,
  source text collate "C" not null,
  event_id text collate "C" not null,
  consumer text collate "C" not null,
  -- Of the inbox: another round does its steps anew.
  round integer not null,
  step text collate "C" not null,
  -- The public id of the stored event, with which it is removed.
  stored_as text collate "C" not null,
  tries integer not null default 1,
  begun_at timestamptz not null default clock_timestamp(),
  -- Null: begun, and nobody knows what came of it.
  finished_at timestamptz,
  -- As JSON.
  result text,
  constraint step_key primary key (tenant, source, event_id, consumer, round, step)
);

create index if not exists step_stored_as on posthorn.step (stored_as);
