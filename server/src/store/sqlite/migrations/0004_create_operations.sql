-- What operators do to many deliveries at once: planned, then run step by step.
create table if not exists posthorn_operation (
  id text primary key not null,
  verb text not null,
  state text not null check (state in ('planned', 'running', 'stopping', 'stopped', 'finished', 'failed')),
  -- As JSON: what is meant, what was shown, who asked, and who stopped it.
  filter text not null,
  plan text not null,
  planned_by text not null,
  run_by text,
  stopped_by text,
  note text,
  rate integer not null,
  -- Where the next step begins.
  after text,
  done integer not null default 0,
  -- How many items came to each result, as JSON.
  results text not null default '{}',
  message text,
  planned_at integer not null,
  started_at integer,
  ended_at integer,
  -- Who has it, until when, and the fence of the lease.
  node text,
  leased_until integer,
  epoch integer not null default 0
) strict, without rowid;

create index if not exists posthorn_operation_by_state on posthorn_operation (state, id);

create index if not exists posthorn_operation_by_verb on posthorn_operation (verb, id) where state <> 'planned';

create table if not exists posthorn_operation_item (
  operation_id text not null,
  number integer not null,
  delivery_id text,
  lane_id text,
  round integer,
  -- Of a cancellation: the last sequence that is meant.
  through text,
  event_id text,
  endpoint_id text,
  -- Written before it is done, so that a step that was cut off is done again, and once.
  result text not null default 'pending',
  count integer not null default 0,
  done_at integer,
  primary key (operation_id, number)
) strict, without rowid;

create index if not exists posthorn_operation_item_result on posthorn_operation_item (operation_id, result, number);

-- Who did what to an event, for its story: to it, or to all that waited in its lane.
create index if not exists posthorn_operation_item_event on posthorn_operation_item (event_id) where event_id is not null;

create index if not exists posthorn_operation_item_lane on posthorn_operation_item (lane_id) where event_id is null;

-- Every change by the API: who, what, before and after. Written before the change, and completed after it.
create table if not exists posthorn_audit (
  id text primary key not null,
  at integer not null,
  token_id text not null,
  token_name text not null,
  via text not null,
  action text not null,
  kind text not null,
  subject text,
  -- As the API shows it, as JSON; never a secret.
  before text,
  after text,
  note text,
  -- Null: the process ended before it knew.
  status integer,
  request_id text not null
) strict, without rowid;

create index if not exists posthorn_audit_token on posthorn_audit (token_id, id);

create index if not exists posthorn_audit_action on posthorn_audit (action, id);

create index if not exists posthorn_audit_kind on posthorn_audit (kind, id);

create index if not exists posthorn_audit_subject on posthorn_audit (subject, id) where subject is not null;

-- What operators noted about groups of dead letters.
create table if not exists posthorn_dead_note (
  group_id text primary key not null,
  text text not null,
  written_by text not null,
  written_at integer not null
) strict, without rowid;
