import type { HoldMark } from "../../../../hold-mark.js";
import { missingBefore } from "../../../../lanes/hold.js";
import type { Filled } from "../../../../lanes/hold.js";
import { heldCursorOf, heldRecord, heldSpotOf } from "../../../../operator/held-store.js";
import type { HeldFilter, HeldRecord, HeldSpot } from "../../../../operator/held-store.js";
import type { Page, Paged } from "../../../../operator/operator-store.js";
import { holdMarkIn } from "../../../../receipt.js";
import { bigint, columns, instant, optional, text } from "../../client/columns.js";
import type { Row } from "../../client/database.js";
import type { StoreDatabase } from "../../client/own-transaction.js";
import { readHandlers } from "../../outbox/consumer-row.js";
import { sqlFor } from "../../schema/tables.js";
import type { Tables } from "../../schema/tables.js";
import { Parameters } from "./dead-filter.js";

interface HeldValues extends Pick<HeldRecord, "tenant" | "source" | "eventId" | "type" | "receivedAt"> {
  readonly number: bigint;
  readonly key: string | undefined;
  readonly receipt: string | undefined;
  readonly until: Date | undefined;
  readonly generation: bigint | undefined;
  readonly last: bigint | undefined;
  readonly heldBefore: bigint | undefined;
  /** Filled places of its key and generation, as JSON. */
  readonly filled: string;
}

function heldIn({ held, filled }: Tables) {
  return columns<HeldValues>({
    number: bigint("event.id"),
    tenant: text("event.tenant"),
    source: text("event.source"),
    key: optional(text("event.key")),
    eventId: text("event.public_id"),
    type: text("event.type"),
    receivedAt: instant("event.written_at"),
    receipt: optional(text("event.receipt")),
    until: optional(instant("held.until")),
    generation: optional(bigint("hold.generation")),
    last: optional(bigint("hold.last_seq")),
    heldBefore: optional(
      bigint(`(select max(before.seq) from ${held} as before where before.tenant = held.tenant
        and before.source = held.source and before.key = held.key and before.generation = held.generation
        and before.seq < held.seq)`),
    ),
    filled:
      text(`(select coalesce(json_agg(json_build_array(filled.seq::text, filled.after_seq::text)), '[]') from ${filled} as filled
      where filled.tenant = held.tenant and filled.source = held.source and filled.key = held.key
        and filled.generation = held.generation)::text`),
  });
}

/** Events that are held, in the order of tenants, sources, keys and sequences. */
export async function listHeld(
  database: StoreDatabase,
  { tenant, source, key }: HeldFilter,
  { limit, after }: Page,
): Promise<Paged<HeldRecord>> {
  const { transactions, tables } = database;
  const params = new Parameters();
  const conditions = Object.entries({ tenant, source, key }).flatMap(([name, value]) =>
    value === undefined ? [] : [`held.${name} = ${params.add(value, "text")}`],
  );
  const spot = heldSpotOf(after);
  if (spot !== undefined) conditions.push(pastSql(spot, params));
  const { rows } = await transactions.read({
    text: `
      select ${heldIn(tables).list} from ${tables.held} as held join ${tables.event} as event on event.id = held.event_id
      left join ${tables.hold} as hold
        on hold.tenant = held.tenant and hold.source = held.source and hold.key = held.key
      ${conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`}
      order by held.tenant, held.source, held.key, held.generation, held.seq, held.event_id
      limit ${params.add(String(limit + 1), "int8")}`,
    params: params.values,
  });
  const page = rows.slice(0, limit);
  const items = await shown(database, page);
  const [last, row] = [items.at(-1), page.at(-1)];
  const isMore = rows.length > limit && last !== undefined && row !== undefined;
  return {
    items,
    next: isMore ? heldCursorOf({ ...last, number: heldIn(tables).read(row).number }) : undefined,
  };
}

function pastSql(
  { tenant, source, key, generation, sequence, number }: HeldSpot,
  params: Parameters,
): string {
  const texts = [tenant, source, key].map((each) => params.add(each, "text"));
  const numbers = [generation, sequence, number].map((each) => params.add(String(each), "int8"));
  return `(held.tenant, held.source, held.key, held.generation, held.seq, held.event_id) > (${[...texts, ...numbers].join(", ")})`;
}

/** Where one event stands in the sequence of its key. */
export async function readHeldEvent(
  database: StoreDatabase,
  tenant: string,
  id: string,
): Promise<HeldRecord | undefined> {
  const { transactions, tables } = database;
  const rows = await transactions.readKept({ text: READ(tables), params: [tenant, id] });
  return (await shown(database, rows))[0];
}

// Found by its id first, as an event is.
const READ = sqlFor(
  (tables) => `
    with found as materialized (
      select id from ${tables.event} where public_id = $2::text and tenant = $1::text
    )
    select ${heldIn(tables).list} from ${tables.event} as event
    left join ${tables.held} as held on held.event_id = event.id
    left join ${tables.hold} as hold
      on hold.tenant = event.tenant and hold.source = event.source and hold.key = event.key
    where event.id = (select max(id) from found)`,
);

function placesIn(json: string, { generation }: HoldMark): readonly Filled[] {
  const places = JSON.parse(json) as readonly (readonly [string, string | null])[];
  return places.map(([sequence, after]) => ({
    generation,
    sequence: BigInt(sequence),
    after: after === null ? undefined : BigInt(after),
  }));
}

async function shown(
  { transactions, tables }: StoreDatabase,
  rows: readonly Row[],
): Promise<readonly HeldRecord[]> {
  const found = rows.flatMap((row) => {
    const {
      number: _number,
      key,
      receipt,
      until,
      generation,
      last,
      heldBefore,
      filled,
      ...event
    } = heldIn(tables).read(row);
    const mark = receipt === undefined ? undefined : holdMarkIn(receipt);
    if (mark === undefined || key === undefined) return [];
    const progress = generation === undefined || last === undefined ? undefined : { generation, last };
    const missing = until && missingBefore(mark, { progress, heldBefore, filled: placesIn(filled, mark) });
    return [{ ...event, key, mark, until, missing }];
  });
  // An event that was published has no place in a sequence: its story asks for nothing more.
  if (found.length === 0) return [];
  const handlers = await readHandlers({ query: (asked) => transactions.read(asked) }, undefined, tables);
  return found.map((each) => heldRecord(each, handlers));
}
