import type { DeliveryEnd } from "../../../../operator/view-store.js";
import type { SqliteClient } from "../../client/client.js";
import type { RecordPlace } from "../../lanes/attempt-rows.js";

interface EndColumns {
  readonly round: bigint;
  readonly how: "dead" | "cancelled";
  readonly because: string;
  readonly at: bigint;
  readonly resolved_at: bigint | null;
  readonly resolved_how: NonNullable<DeliveryEnd["resolvedHow"]> | null;
}

/** How the rounds of a delivery ended, other than by being delivered. */
export function readEnds(client: SqliteClient, { lane, seq }: RecordPlace): readonly DeliveryEnd[] {
  const rows = client.allWide(
    `select round, 'dead' as how, because, died_at as at, resolved_at, resolved_how from posthorn_dead
     where lane = ? and seq = ?
     union all
     select round, 'cancelled', because, cancelled_at, null, null from posthorn_cancelled where lane = ? and seq = ?
     order by 1, 4`,
    lane,
    seq,
    lane,
    seq,
  ) as EndColumns[];
  return rows.map((row) => ({
    round: Number(row.round),
    how: row.how,
    because: row.because,
    at: new Date(Number(row.at)),
    resolvedAt: row.resolved_at === null ? undefined : new Date(Number(row.resolved_at)),
    resolvedHow: row.resolved_how ?? undefined,
  }));
}
