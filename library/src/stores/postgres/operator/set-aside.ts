import { cursorOf, numberOfCursor } from "../../../operator/cursor.js";
import type { Page, Paged } from "../../../operator/operator-store.js";
import type { RedrivenEvent, SetAsideEvent } from "../../../operator/set-aside-store.js";
import { bigint, columns, instant, optional, text } from "../client/columns.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { sqlFor } from "../schema/tables.js";

const SET_ASIDE = columns<SetAsideEvent>({
  number: bigint("aside.id"),
  tenant: text("aside.tenant"),
  eventId: optional(text("event.public_id")),
  type: optional(text("event.type")),
  error: text("error"),
  setAsideAt: instant("died_at"),
});

/** Lists events that could not be given their places, newest first. */
export async function listSetAside(
  { transactions, tables }: StoreDatabase,
  { limit, after }: Page,
): Promise<Paged<SetAsideEvent>> {
  const before = numberOfCursor(after);
  const { rows } = await transactions.read({
    text: `
      select ${SET_ASIDE.list} from ${tables.stageDead} as aside left join ${tables.event} as event on event.id = event_id
      where resolved_at is null${before === undefined ? "" : " and aside.id < $2::text::int8"}
      order by aside.id desc limit $1::text::int8`,
    params: [String(limit + 1), ...(before === undefined ? [] : [String(before)])],
  });
  const items = rows.slice(0, limit).map((row) => SET_ASIDE.read(row));
  const last = items.at(-1);
  return { items, next: rows.length > limit && last ? cursorOf(last.number) : undefined };
}

/** Puts an event that was set aside to the end of its tenant's stage. */
export async function redriveEvent(
  { transactions, tables }: StoreDatabase,
  number: bigint,
): Promise<RedrivenEvent> {
  const { rows } = await transactions.write({
    text: REDRIVE(tables),
    params: [String(number)],
    prepared: true,
  });
  const [isThere] = rows[0] ?? [];
  if (isThere === undefined) return "unknown";
  return isThere === "true" ? "staged" : "event_missing";
}

// In one statement: resolved and not staged, the event would be lost; staged and not resolved, it could be staged twice.
// What it was given of its places before it failed, it has.
const REDRIVE = sqlFor(
  ({ stage, stageDead, event }) => `
    with resolved as (
      update ${stageDead} set resolved_at = clock_timestamp()
      where id = $1::text::int8 and resolved_at is null
      returning tenant, event_id, target_consumer_id, round, after_consumer_id
    ), known as materialized (
      select resolved.*, exists (select from ${event} as event where event.id = event_id) as is_there from resolved
    ), staged as (
      insert into ${stage} (tenant, event_id, target_consumer_id, round, after_consumer_id)
      select tenant, event_id, target_consumer_id, round, after_consumer_id from known where is_there
    )
    select is_there::text as is_there from known`,
);
