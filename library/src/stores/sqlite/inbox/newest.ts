import type { Compared, NewestStore, ResourceVersion } from "../../../inbox/handler/newest.js";
import type { SqliteClient, SqliteDatabase } from "../client/client.js";
import { storeError } from "../client/failure.js";
import type { HostHandles } from "../client/host-handle.js";

/** Compares versions of resources in the host's transactions. */
export function createNewest<Db extends SqliteDatabase>(
  handles: HostHandles,
  now: () => number,
): NewestStore<Db, "synchronous"> {
  return {
    newest(tx, version) {
      try {
        return compare(handles.inTransaction(tx), version, now());
      } catch (error) {
        throw storeError(error);
      }
    },
  };
}

function compare(
  client: SqliteClient,
  { consumer, tenant, source, resource, eventId, kind, version }: ResourceVersion,
  nowMs: number,
): Compared {
  const key = [consumer, tenant, source, resource];
  // Without the last condition a replay of the newest event would be dropped: the version that it brings is known.
  const kept = client.run(
    `insert into posthorn_newest (consumer, tenant, source, resource, kind, version, event_id, seen_at)
     values (?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (consumer, tenant, source, resource) do update
     set version = excluded.version, event_id = excluded.event_id, seen_at = excluded.seen_at
     where kind = excluded.kind and (version < excluded.version
       or version = excluded.version and event_id = excluded.event_id)`,
    ...key,
    kind,
    version,
    eventId,
    nowMs,
  );
  if (kept > 0) return "newest";
  const known = client.get(
    "select kind from posthorn_newest where consumer = ? and tenant = ? and source = ? and resource = ?",
    ...key,
  ) as { kind: string } | undefined;
  return known?.kind === kind ? "stale" : "mixed";
}
