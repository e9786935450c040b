-- Sessions of browsers. What a cookie holds is nowhere: its hash is. A session is worth what its token is worth, and ends
-- with it, which is why it is only ever read together with its token.
create table if not exists posthorn.session (
  hash bytea not null,
  token_id text collate "C" not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint session_key primary key (hash)
);
