-- Headers that are sent with the event, as JSON; null where it has none of its own.
alter table posthorn.event add column if not exists headers text;

-- Names under which events came from elsewhere: the id that their sender gave, or a hash of their content.
create table if not exists posthorn.ingest_name (
  tenant text collate "C" not null,
  name text collate "C" not null,
  -- The public id of the event that came first under it.
  event_id text collate "C" not null,
  -- Null: another body is no conflict.
  body_hash bytea,
  -- Null: known for ever.
  keep_until timestamptz,
  constraint ingest_name_key primary key (tenant, name)
) with (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05
);

-- What may be forgotten, oldest first. New names are added at its right end.
create index if not exists ingest_name_keep_until on posthorn.ingest_name (keep_until) where keep_until is not null;

-- Endpoints are removed a part at a time; null while something of a removed one is left.
alter table posthorn.endpoint add column if not exists cleared_at timestamptz;

-- A loose delivery is gone when it was delivered; its attempts have to tell where it went.
alter table posthorn.loose_attempt add column if not exists endpoint_id bigint;

-- What people look for, in the index that is there anyway: lists of events are filtered by it without the table, in a
-- fifth of a second for a million of them. In batches, an insert costs the server 7.6 us; an index more for tenants or
-- types adds 2.1 us to that, these columns nothing that can be measured.
alter table posthorn.event drop constraint if exists event_key,
  add constraint event_key primary key (id) include (tenant, source, type, key);

-- The one lookup that no other index answers: 1.9 us for each event. As a hash it costs as much.
create index if not exists event_public_id on posthorn.event (public_id);

-- The same for what waits for an event: it is found among all that waits in the lane, or for the endpoint. An index by
-- event adds 1.6 us to the 6.3 us of a delivery, and 4.6 us to the 18.6 us of one without a key, whose every claim writes
-- all indexes.
alter table posthorn.delivery drop constraint if exists delivery_key,
  add constraint delivery_key primary key (lane_id, seq) include (event_id);

drop index if exists posthorn.loose_delivery_ready;

create index loose_delivery_ready on posthorn.loose_delivery (endpoint_id, ready_at) include (event_id, id)
where ready_at is not null;

-- What was tried, by event: 1.7 us more than the 7.5 us of an attempt. Every delivery has a first one in each round, so
-- retries cost nothing here. A BRIN index costs nothing at all, but attempts of one event lie wherever its retries fell:
-- where an endpoint was down for a day, most of the table would be read.
create index if not exists attempt_event on posthorn.attempt (event_id) where no = 1;

create index if not exists loose_attempt_event on posthorn.loose_attempt (event_id) where no = 1;

create index if not exists dead_event on posthorn.dead (event_id);

create index if not exists cancelled_event on posthorn.cancelled (event_id);

create index if not exists cancelled_lane on posthorn.cancelled (lane_id, seq) where lane_id is not null;

create index if not exists cancelled_loose on posthorn.cancelled (loose_id) where loose_id is not null;

create index if not exists endpoint_tenant on posthorn.endpoint (tenant, public_id) where removed_at is null;
