import type { RetentionCensus, RetentionKind } from "../../../retention/retention-store.js";
import { RETENTION_KINDS } from "../../../retention/retention-store.js";
import type { OutboxTurn } from "../outbox/turn.js";

interface StateColumns {
  readonly kind: string;
  readonly removed: number;
  readonly passed_at: number | null;
}

/** The whole file, also what the host keeps in it. The oldest of each kind stands at the left end of an index. */
export function readRetention({ client, nowMs }: OutboxTurn): RetentionCensus {
  const rows = client.all("select kind, removed, passed_at from posthorn_retention") as StateColumns[];
  const known = new Map(rows.map((row) => [row.kind, row]));
  const pageBytes = client.setting("page_size", "page_size");
  const since = (at: number | null | undefined): number | undefined =>
    typeof at === "number" ? Math.max(0, nowMs - at) : undefined;
  const oldest = (kind: RetentionKind): number | undefined => {
    const sql = OLDEST[kind];
    return sql === undefined ? undefined : since((client.get(sql) as { at: number } | undefined)?.at);
  };
  return {
    bytes: client.setting("page_count", "page_count") * pageBytes,
    freeBytes: client.setting("freelist_count", "freelist_count") * pageBytes,
    tables: [],
    kinds: RETENTION_KINDS.map((kind) => ({
      kind,
      removed: known.get(kind)?.removed ?? 0,
      passedMs: since(known.get(kind)?.passed_at),
      oldestMs: oldest(kind),
    })),
  };
}

const OLDEST: Partial<Record<RetentionKind, string>> = {
  events: "select written_at as at from posthorn_event order by id limit 1",
  dead: "select resolved_at as at from posthorn_dead where resolved_at is not null order by resolved_at limit 1",
  cancelled: "select cancelled_at as at from posthorn_cancelled order by cancelled_at limit 1",
  set_aside:
    "select resolved_at as at from posthorn_stage_dead where resolved_at is not null order by resolved_at limit 1",
};
