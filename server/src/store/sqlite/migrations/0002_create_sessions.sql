-- Sessions of browsers. What a cookie holds is nowhere: its hash is. A session is worth what its token is worth, and ends
-- with it, which is why it is only ever read together with its token.
create table if not exists posthorn_session (
  hash blob primary key not null,
  token_id text not null,
  created_at integer not null,
  expires_at integer not null
) strict, without rowid;
