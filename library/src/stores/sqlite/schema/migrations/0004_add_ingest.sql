-- What an event brings along, as JSON; null where that is nothing. Behind the body, which whoever wants them reads anyway.
alter table posthorn_event add column headers text;

-- Kept with the event, because posthorn_later forgets it when it has come.
alter table posthorn_event add column deliver_at integer;

create index if not exists posthorn_event_public_id on posthorn_event (event_id);

-- What people look for: the events of one order. Those of a type or a source are found by reading on, a little at a time.
create index if not exists posthorn_event_key on posthorn_event (tenant, key) where key is not null;

-- Names under which events came in from elsewhere: one that is known is not stored again.
create table if not exists posthorn_ingest_name (
  tenant text not null,
  name text not null,
  event_id text not null,
  body_hash blob,
  keep_until integer,
  primary key (tenant, name)
) strict, without rowid;

create index if not exists posthorn_ingest_name_keep_until on posthorn_ingest_name (keep_until)
where keep_until is not null;

-- Every place that an event was ever given, for whoever asks what became of it: a delivery is gone when it was made, and
-- a lane when its endpoint is. Written once, at the end of the table, where indexes on four others would be written twice.
create table if not exists posthorn_place (
  event integer not null,
  endpoint integer not null,
  lane integer not null,
  seq integer not null,
  primary key (event, endpoint, lane, seq)
) strict, without rowid;

-- Of what was delivered without a lane before this version nobody has kept the endpoint.
insert or ignore into posthorn_place (event, endpoint, lane, seq)
select d.event, l.endpoint, d.lane, d.seq from posthorn_delivery d join posthorn_lane l on l.id = d.lane
union select event, endpoint, 0, id from posthorn_loose_delivery
union select event, endpoint, lane, seq from posthorn_dead
union select event, endpoint, lane, seq from posthorn_cancelled
union select a.event, l.endpoint, a.lane, a.seq from posthorn_attempt a join posthorn_lane l on l.id = a.lane;

-- To count them without reading every lane.
create index if not exists posthorn_lane_stopped on posthorn_lane (state) where state <> 'flowing';
