import type { DeadBecause } from "../../../lanes/dead.js";
import { deliveryIdOf } from "../../../lanes/delivery-id.js";
import type { DeadLetter, Page, Paged } from "../../../operator/operator-store.js";
import type { SqliteClient } from "../client/client.js";

interface DeadLetterColumns {
  readonly id: bigint;
  readonly lane: bigint;
  readonly seq: bigint;
  readonly round: bigint;
  readonly because: DeadBecause;
  readonly died_at: bigint;
  readonly attempts: bigint;
  readonly last_status: bigint | null;
  readonly last_error: string | null;
  readonly event_id: string;
  readonly type: string;
  readonly tenant: string;
  readonly endpoint_id: string;
  readonly key: string | null;
  readonly blocks: bigint;
}

/** Dead deliveries that can be redriven, newest first. */
export function deadLetters(client: SqliteClient, { limit, after }: Page): Paged<DeadLetter> {
  const rows = client.allWide(
    `select d.id, d.lane, d.seq, d.round, d.because, d.died_at, d.attempts, d.last_status, d.last_error,
       e.public_id as event_id, e.type, c.tenant, c.public_id as endpoint_id, l.key,
       coalesce(l.state <> 'flowing' and l.head_seq = d.seq, 0) as blocks
     from posthorn_dead d
     cross join posthorn_event e on e.id = d.event
     cross join posthorn_consumer c on c.id = d.consumer and c.removed_at is null
     left join posthorn_lane l on l.id = d.lane
     where d.resolved_at is null and d.id < ? order by d.id desc limit ?`,
    pageStart(after),
    limit + 1,
  ) as DeadLetterColumns[];
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items: items.map(deadLetterOf), next: rows.length > limit && last ? String(last.id) : undefined };
}

const NEWEST = 2n ** 63n - 1n;

function pageStart(after: string | undefined): bigint {
  return after !== undefined && /^\d{1,18}$/.test(after) ? BigInt(after) : NEWEST;
}

function deadLetterOf(row: DeadLetterColumns): DeadLetter {
  const loose = row.lane === 0n;
  return {
    id: deliveryIdOf(
      loose ? { kind: "loose", id: row.seq } : { kind: "lane", lane: row.lane, sequence: row.seq },
    ),
    tenant: row.tenant,
    endpointId: row.endpoint_id,
    key: row.key ?? undefined,
    sequence: loose ? undefined : row.seq,
    eventId: row.event_id,
    type: row.type,
    round: Number(row.round),
    because: row.because,
    diedAt: new Date(Number(row.died_at)),
    attempts: Number(row.attempts),
    lastStatus: row.last_status === null ? undefined : Number(row.last_status),
    lastError: row.last_error ?? undefined,
    blocks: row.blocks === 1n,
  };
}
