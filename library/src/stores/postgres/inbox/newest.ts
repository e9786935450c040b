import type { Compared, NewestStore, ResourceVersion } from "../../../inbox/handler/newest.js";
import type { Session } from "../client/database.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";

export interface NewestParts {
  readonly tables: Tables;
  /** The host's own transaction. */
  readonly sessionOf: (tx: unknown) => Promise<Session>;
}

/** Compares versions of resources in the host's transactions. */
export function createNewest<Tx>({ tables, sessionOf }: NewestParts): NewestStore<Tx, "asynchronous"> {
  return { newest: async (tx, version) => compare(await sessionOf(tx), version, tables) };
}

async function compare(
  session: Session,
  { consumer, tenant, source, resource, eventId, kind, version }: ResourceVersion,
  tables: Tables,
): Promise<Compared> {
  const key = [consumer, tenant, source, resource];
  const params = [...key, kind, String(version), eventId];
  const kept = await session.query({ text: KEEP(tables), params, prepared: true });
  if (kept.rows.length > 0) return "newest";
  // The row is locked by the statement before, also where it was not newer: nobody changes it until this transaction ends.
  const known = await session.query({ text: KIND(tables), params: key });
  return known.rows[0]?.[0] === kind ? "stale" : "mixed";
}

// One statement that looks, locks and writes: between a look and a write of their own, two transactions would both be
// the newest. Without the last condition a replay of the newest event would be dropped: the version that it brings is known.
const KEEP = sqlFor(
  ({ newest }) => `
    insert into ${newest} as known (consumer, tenant, source, resource, kind, version, event_id, seen_at)
    values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text::int8, $7::text, clock_timestamp())
    on conflict (consumer, tenant, source, resource) do update
      set version = excluded.version, event_id = excluded.event_id, seen_at = excluded.seen_at
      where known.kind = excluded.kind and (known.version < excluded.version
        or known.version = excluded.version and known.event_id = excluded.event_id)
    returning 'newest' as newest`,
);

const KIND = sqlFor(
  ({ newest }) => `
    select kind from ${newest}
    where consumer = $1::text and tenant = $2::text and source = $3::text and resource = $4::text`,
);
