import type { DeadBecause } from "../../../../lanes/dead.js";
import { deliveryIdOf } from "../../../../lanes/delivery-id.js";
import { cursorOf, numbersOfCursor } from "../../../../operator/cursor.js";
import type { DeadFilter } from "../../../../operator/dead-filter.js";
import type { DeadLetter, Page, Paged } from "../../../../operator/operator-store.js";
import type { OutboxTurn } from "../../outbox/turn.js";
import { rangesOf } from "./dead-filter.js";

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
  readonly event_id: string | null;
  readonly type: string | null;
  readonly tenant: string;
  readonly endpoint_id: string;
  readonly key: string | null;
  readonly blocks: bigint;
}

const SELECT = `select d.id, d.lane, d.seq, d.round, d.because, d.died_at, d.attempts, d.last_status, d.last_error,
       e.public_id as event_id, e.type, c.public_id as endpoint_id, l.key,
       case c.kind when 'handler' then coalesce(l.tenant, e.tenant, '') else c.tenant end as tenant,
       coalesce(l.state <> 'flowing' and l.head_seq = d.seq, 0) as blocks
     from posthorn_dead d
     left join posthorn_event e on e.id = d.event
     cross join posthorn_consumer c on c.id = d.consumer and c.removed_at is null
     left join posthorn_lane l on l.id = d.lane`;

/** Dead deliveries that can be redriven, newest first unless the filter says otherwise. */
export function deadLetters(
  turn: OutboxTurn,
  { limit, after }: Page,
  filter: DeadFilter = {},
): Paged<DeadLetter> {
  const oldest = filter.order === "oldest";
  const [past, order] = oldest ? [">", "asc"] : ["<", "desc"];
  const [diedAt, id] = pageStart(after, oldest);
  const found = rangesOf(turn, filter).flatMap(
    ({ where, values }) =>
      turn.client.allWide(
        `${SELECT} where ${where} and (d.died_at, d.id) ${past} (?, ?)
         order by d.died_at ${order}, d.id ${order} limit ?`,
        ...values,
        diedAt,
        id,
        limit + 1,
      ) as DeadLetterColumns[],
  );
  const rows = found.toSorted((a, b) => (oldest ? byDeath(a, b) : byDeath(b, a)));
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const next = rows.length > limit && last ? cursorOf(last.died_at, last.id) : undefined;
  return { items: items.map(deadLetterOf), next };
}

function byDeath(a: DeadLetterColumns, b: DeadLetterColumns): number {
  return Number(a.died_at - b.died_at) || Number(a.id - b.id);
}

const LAST_NUMBER = 2n ** 63n - 1n;

function pageStart(after: string | undefined, oldest: boolean): readonly [diedAt: bigint, id: bigint] {
  const [diedAt, id] = numbersOfCursor(after, 2) ?? [];
  if (diedAt !== undefined && id !== undefined) return [diedAt, id];
  return oldest ? [0n, 0n] : [LAST_NUMBER, LAST_NUMBER];
}

function deadLetterOf(row: DeadLetterColumns): DeadLetter {
  const loose = row.lane === 0n;
  return {
    id: deliveryIdOf(
      loose ? { kind: "loose", id: row.seq } : { kind: "lane", lane: row.lane, sequence: row.seq },
    ),
    number: row.id,
    laneId: loose ? undefined : row.lane,
    tenant: row.tenant,
    endpointId: row.endpoint_id,
    key: row.key ?? undefined,
    sequence: loose ? undefined : row.seq,
    eventId: row.event_id ?? "",
    type: row.type ?? "",
    round: Number(row.round),
    because: row.because,
    diedAt: new Date(Number(row.died_at)),
    attempts: Number(row.attempts),
    lastStatus: row.last_status === null ? undefined : Number(row.last_status),
    lastError: row.last_error ?? undefined,
    blocks: row.blocks === 1n,
  };
}
