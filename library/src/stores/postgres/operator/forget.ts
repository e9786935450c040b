import { reach } from "#faults";
import type { InboxOutcome } from "../../../inbox/inbox-store.js";
import { nameOfId } from "../../../incoming-name.js";
import type { Forgotten } from "../../../operator/replay-store.js";
import { textArray } from "../client/column-arrays.js";
import { boolean, columns, optional, text } from "../client/columns.js";
import type { Session } from "../client/database.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import type { Tables } from "../schema/tables.js";

/** Which event is meant. */
export interface ForgottenEvent {
  readonly tenant: string;
  readonly source: string;
  readonly id: string;
}

interface RowValues {
  readonly outcome: InboxOutcome;
  readonly storedAs: string | undefined;
}

const ROW = columns<RowValues>({
  outcome: text<InboxOutcome>("outcome"),
  storedAs: optional(text("stored_as")),
});
const COUNT = columns<{ readonly isAll: boolean }>({ isAll: boolean("count(*) = $4::text::int8") });

const OF_EVENT = "tenant = $1::text and source = $2::text and event_id = $3::text";

/** Forgets an event at all of its consumers, with the names under which it came. */
export async function forgetEvent(
  { transactions, tables }: StoreDatabase,
  event: ForgottenEvent,
): Promise<Forgotten> {
  const key = [event.tenant, event.source, event.id];
  const forgotten = await transactions.run(async (session): Promise<Forgotten> => {
    const locked = await session.query({
      text: `select ${ROW.list} from ${tables.inbox} where ${OF_EVENT} for update skip locked`,
      params: key,
    });
    const rows = locked.rows.map((row) => ROW.read(row));
    const counted = await session.query({
      text: `select ${COUNT.list} from ${tables.inbox} where ${OF_EVENT}`,
      params: [...key, String(rows.length)],
    });
    // A row that somebody else holds: its handler runs.
    if (counted.rows[0] === undefined || !COUNT.read(counted.rows[0]).isAll) return { kind: "busy" };
    if (rows.some(({ outcome }) => outcome === "pending")) return { kind: "pending" };
    reach("forget.before_record");
    for (const table of [tables.inbox, tables.inboxAttempt]) {
      await session.query({ text: `delete from ${table} where ${OF_EVENT}`, params: key });
    }
    const names = await forgetNames(session, event, { rows, tables });
    reach("forget.after_record");
    return rows.length + names === 0 ? { kind: "unknown" } : { kind: "forgotten", rows: rows.length, names };
  }, "fresh");
  reach("forget.after_commit");
  return forgotten;
}

// By its id's name, which the key of names has; its other names are found among those of its source, by the event.
async function forgetNames(
  session: Session,
  { tenant, source, id }: ForgottenEvent,
  { rows, tables }: { readonly rows: readonly RowValues[]; readonly tables: Tables },
): Promise<number> {
  const byId = await session.query({
    text: `delete from ${tables.ingestName} where tenant = $1::text and name = $2::text returning event_id as id`,
    params: [tenant, nameOfId(source, id)],
  });
  const stored = [
    ...rows.flatMap(({ storedAs }) => storedAs ?? []),
    ...byId.rows.map(([event]) => String(event)),
  ];
  if (stored.length === 0) return byId.rows.length;
  const others = await session.query({
    text: `
      delete from ${tables.ingestName}
      where tenant = $1::text and name >= $2::text collate "C" and name < $3::text collate "C"
        and event_id = any ($4::text[])
      returning event_id as id`,
    // The character after the slash, so that all names of the source are between them.
    params: [tenant, `${source}/`, `${source}0`, textArray(stored)],
  });
  return byId.rows.length + others.rows.length;
}
