import { missingBefore } from "../../../../lanes/hold.js";
import { heldCursorOf, heldRecord, heldSpotOf } from "../../../../operator/held-store.js";
import type { HeldFilter, HeldRecord, HeldSpot } from "../../../../operator/held-store.js";
import type { Page, Paged } from "../../../../operator/operator-store.js";
import { isHandler } from "../../../../outbox/fan-out.js";
import { holdMarkIn } from "../../../../receipt.js";
import type { SqliteValue } from "../../client/client.js";
import { withoutNul } from "../../inbox/inbox-row.js";
import { readFilled } from "../../lanes/filled.js";
import type { OutboxTurn } from "../../outbox/turn.js";

interface HeldColumns {
  readonly id: bigint;
  readonly tenant: string;
  readonly source: string;
  readonly key: string | null;
  readonly public_id: string;
  readonly type: string;
  readonly written_at: bigint;
  readonly receipt: string | null;
  readonly until: bigint | null;
  readonly progress_generation: bigint | null;
  readonly progress_seq: bigint | null;
  readonly held_before: bigint | null;
}

const COLUMNS = `e.id, e.tenant, e.source, e.key, e.public_id, e.type, e.written_at, e.receipt, h.until,
  p.generation as progress_generation, p.last_seq as progress_seq,
  (select max(b.seq) from posthorn_held b where b.tenant = h.tenant and b.source = h.source and b.key = h.key
     and b.generation = h.generation and b.seq < h.seq) as held_before`;

/** Before the first of all: events are numbered from 1 on. */
const START: HeldSpot = { tenant: "", source: "", key: "", generation: 0n, sequence: 0n, number: 0n };

/** Events that are held, in the order of tenants, sources, keys and sequences. */
export function findHeld(
  turn: OutboxTurn,
  { tenant, source, key }: HeldFilter,
  { limit, after }: Page,
): Paged<HeldRecord> {
  const wanted = Object.entries({ tenant, source, key }).filter(([, value]) => value !== undefined);
  const conditions = wanted.map(([name]) => `h.${name} = ?`);
  const values: SqliteValue[] = wanted.map(([, value = ""]) => withoutNul(value));
  // Also of the first page: with a bound SQLite walks the key, and does not plan to read the table.
  const spot = heldSpotOf(after) ?? START;
  conditions.push("(h.tenant, h.source, h.key, h.generation, h.seq, h.event) > (?, ?, ?, ?, ?, ?)");
  values.push(spot.tenant, spot.source, spot.key, spot.generation, spot.sequence, spot.number);
  const rows = turn.client.allWide(
    `select ${COLUMNS} from posthorn_held h cross join posthorn_event e on e.id = h.event
     left join posthorn_hold p on p.tenant = h.tenant and p.source = h.source and p.key = h.key
     where ${conditions.join(" and ")}
     order by h.tenant, h.source, h.key, h.generation, h.seq, h.event limit +?`,
    ...values,
    limit + 1,
  ) as HeldColumns[];
  const page = rows.slice(0, limit);
  const items = shown(turn, page);
  const [last, row] = [items.at(-1), page.at(-1)];
  return {
    items,
    next: rows.length > limit && last && row ? heldCursorOf({ ...last, number: row.id }) : undefined,
  };
}

/** Where one event stands in the sequence of its key. */
export function readHeldEvent(turn: OutboxTurn, tenant: string, eventId: string): HeldRecord | undefined {
  const rows = turn.client.allWide(
    `select ${COLUMNS} from posthorn_event e indexed by posthorn_event_public_id
     left join posthorn_held h on h.event = e.id
     left join posthorn_hold p on p.tenant = e.tenant and p.source = e.source and p.key = e.key
     where e.public_id = ? and e.tenant = ? order by e.id desc limit 1`,
    withoutNul(eventId),
    withoutNul(tenant),
  ) as HeldColumns[];
  return shown(turn, rows)[0];
}

function shown(turn: OutboxTurn, rows: readonly HeldColumns[]): readonly HeldRecord[] {
  // As the sequencer knows them, which will give it its places.
  const handlers = rows.length === 0 ? [] : [...turn.consumers.byNumber.values()].filter(isHandler);
  handlers.sort((one, other) => (one.id < other.id ? -1 : 1));
  return rows.flatMap((row) => {
    const { tenant, source, key, public_id, type, written_at, receipt, until } = row;
    const mark = receipt === null ? undefined : holdMarkIn(receipt);
    if (mark === undefined || key === null) return [];
    const found = {
      tenant,
      source,
      key,
      eventId: public_id,
      type,
      mark,
      receivedAt: new Date(Number(written_at)),
      until: until === null ? undefined : new Date(Number(until)),
      missing: until === null ? undefined : missingBefore(mark, knownOf(turn, row)),
    };
    return heldRecord(found, handlers);
  });
}

function knownOf(turn: OutboxTurn, row: HeldColumns) {
  const { tenant, source, key, progress_generation, progress_seq, held_before } = row;
  const isKnown = progress_generation !== null && progress_seq !== null;
  return {
    progress: isKnown ? { generation: progress_generation, last: progress_seq } : undefined,
    heldBefore: held_before ?? undefined,
    filled: readFilled(turn, { tenant, source, key: key ?? "" }),
  };
}
