-- The latest time by which anything was written; a clock that stands before it was set back. In the one row that turns
-- read anyway, so that it costs none of them a statement.
alter table posthorn_endpoint_mark add column seen_at integer not null default 0;
