import { reach } from "#faults";
import { gainedSources, registered } from "../../../lanes/handler-consumer.js";
import type { HandlerConsumer, RegisteredHandler } from "../../../lanes/handler-consumer.js";
import { textArray } from "../client/column-arrays.js";
import type { Session } from "../client/database.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { markChanged } from "../outbox/consumer-book.js";
import { handlerDefinition, readHandlers } from "../outbox/consumer-row.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";
import { lockStage } from "./stage.js";
import { beginStaging } from "./unclaimed.js";

/** Registers handlers; reads first without the sequencer's lock, so that a start that changes nothing keeps nobody waiting. */
export async function register(
  { transactions, tables }: StoreDatabase,
  consumers: readonly HandlerConsumer[],
): Promise<void> {
  const reader: Session = { query: (statement) => transactions.read(statement) };
  // Before the look: from then on nobody removes a handler that is found to be registered.
  const ids = consumers.map(({ id }) => id);
  await transactions.write({ text: SEEN(tables), params: [textArray(ids)], prepared: true });
  if ((await changesOf(reader, consumers, await readHandlers(reader, ids, tables))).length === 0) return;
  await transactions.run(async (session) => {
    // Two processes that start at once must not register one name twice, nor may an event be matched in between.
    await lockStage(session, tables);
    const known = await readHandlers(session, undefined, tables);
    const changes = await changesOf(session, consumers, known);
    reach("register.before_record");
    for (const handler of changes) await save(session, handler, tables);
    await markChanged(session, tables);
    // Every half hour each version says its words again: that must not stage again what nobody names.
    const gained = gainedSources(known, changes);
    if (gained.length > 0) await beginStaging(session, gained, tables);
    reach("register.after_record");
  });
  reach("register.after_commit");
}

// Many processes have the same handlers: one that was seen a moment ago is left as it is.
const SEEN = sqlFor(
  ({ consumer }) => `
    update ${consumer} set seen_at = clock_timestamp()
    where kind = 'handler' and removed_at is null and public_id = any ($1::text[])
      and (seen_at is null or seen_at < clock_timestamp() - interval '20 seconds')`,
);

async function changesOf(
  session: Session,
  consumers: readonly HandlerConsumer[],
  handlers: readonly RegisteredHandler[],
): Promise<readonly RegisteredHandler[]> {
  const known = new Map(handlers.map((handler) => [handler.id, handler]));
  const { rows } = await session.query({
    text: "select (extract(epoch from clock_timestamp()) * 1000)::text as now",
    params: [],
  });
  const nowMs = Math.floor(Number(rows[0]?.[0]));
  return consumers.flatMap((wanted) => registered(known.get(wanted.id), wanted, nowMs) ?? []);
}

async function save(session: Session, handler: RegisteredHandler, { consumer }: Tables): Promise<void> {
  const { id, order, dead, version } = handler;
  await session.query({
    text: `
      insert into ${consumer} (public_id, kind, tenant, definition, ordered_by, dead, state, version, seen_at)
      values ($1::text, 'handler', '', $2::text, $3::text, $4::text, 'active', $5::text::int8, clock_timestamp())
      on conflict (public_id) where removed_at is null do update set
        definition = excluded.definition, ordered_by = excluded.ordered_by, dead = excluded.dead,
        version = excluded.version, seen_at = excluded.seen_at, mark = gen_random_uuid()`,
    params: [id, handlerDefinition(handler), order, dead ?? null, String(version)],
  });
}
