-- Steps of long handlers, with what they came to: a handler that runs again does not do them again.
create table if not exists posthorn_step (
  tenant text not null,
  source text not null,
  event_id text not null,
  consumer text not null,
  -- Of the inbox: another round does its steps anew.
  round integer not null,
  step text not null,
  -- The public id of the stored event, with which it is removed.
  stored_as text not null,
  tries integer not null default 1,
  begun_at integer not null,
  -- Null: begun, and nobody knows what came of it.
  finished_at integer,
  -- As JSON.
  result text,
  primary key (tenant, source, event_id, consumer, round, step)
) strict, without rowid;

create index if not exists posthorn_step_stored_as on posthorn_step (stored_as);
