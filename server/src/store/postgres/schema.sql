create table posthorn.probe (
  one boolean not null,
  node text not null,
  written_at timestamp with time zone not null,
  constraint probe_key PRIMARY KEY (one),
  constraint probe_one CHECK (one)
);

create table posthorn.rejected (
  id text collate "C" not null,
  source text collate "C" not null,
  received_at timestamp with time zone not null,
  method text not null,
  url text,
  headers text not null,
  headers_sealed text,
  body bytea not null,
  body_bytes bigint not null,
  code text not null,
  message text not null,
  diagnosis text not null,
  constraint rejected_key PRIMARY KEY (id)
);
CREATE INDEX rejected_source ON posthorn.rejected USING btree (source, id);

create table posthorn.server_migration (
  version integer not null,
  name text not null,
  applied_at timestamp with time zone not null,
  constraint server_migration_key PRIMARY KEY (version)
);

create table posthorn.session (
  hash bytea not null,
  token_id text collate "C" not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint session_key PRIMARY KEY (hash)
);

create table posthorn.source (
  name text collate "C" not null,
  tenant text collate "C" not null,
  scheme text not null,
  secrets text not null,
  definition text not null,
  created_at timestamp with time zone not null,
  version bigint not null,
  constraint source_key PRIMARY KEY (name)
);

create table posthorn.source_config (
  one boolean not null,
  version bigint not null,
  constraint source_config_key PRIMARY KEY (one),
  constraint source_config_one CHECK (one)
);

create table posthorn.token (
  id text collate "C" not null,
  name text not null,
  scope text not null,
  hash bytea not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  first boolean not null,
  constraint token_hash UNIQUE (hash),
  constraint token_key PRIMARY KEY (id),
  constraint token_scope CHECK ((scope = ANY (ARRAY['read'::text, 'full'::text, 'metrics'::text])))
);
CREATE UNIQUE INDEX token_first ON posthorn.token USING btree (first) WHERE first;
