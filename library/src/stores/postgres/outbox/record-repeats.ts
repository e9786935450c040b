import type { IncomingRepeat } from "../../../outbox/ingest-store.js";
import { MOST_REPEATED_BODIES } from "../../../outbox/ingest-store.js";
import { givenRows, numbers, texts } from "../client/given-rows.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { sqlFor } from "../schema/tables.js";
import { gatherRepeats } from "../../../outbox/gather-repeats.js";
import type { GatheredRepeat } from "../../../outbox/gather-repeats.js";

const REPEATS = givenRows<GatheredRepeat>(
  {
    tenant: texts(({ tenant }) => tenant),
    event_id: texts(({ eventId }) => eventId),
    kind: texts(({ kind }) => kind),
    receipts: numbers("int4", ({ receipts }) => receipts),
    first_ms: numbers("float8", ({ receivedAt }) => receivedAt.getTime()),
    last_ms: numbers("float8", ({ lastAt }) => lastAt.getTime()),
    headers: texts(({ headers }) => JSON.stringify(headers)),
    window_s: numbers("float8", ({ windowS }) => windowS),
  },
  { body_hash: ({ bodyHash }) => bodyHash, body: ({ body }) => body },
);

// How many rows whose window has passed go with each batch: more than a batch adds, so that they do not pile up.
const FORGOTTEN = 1000;

/** Records duplicates and conflicts, in one statement. */
export async function recordRepeats(
  { transactions, tables }: StoreDatabase,
  repeats: readonly IncomingRepeat[],
): Promise<void> {
  const gathered = gatherRepeats(repeats);
  if (gathered.length === 0) return;
  await transactions.write({ text: RECORD(tables), params: REPEATS.params(gathered), prepared: true });
}

// In the order of the key, as every node writes them: else two nodes that share two rows wait for each other. A new body
// is kept only where the event has few of them, and its bytes only where they are not the event's own.
const RECORD = sqlFor(
  ({ ingestRepeat, event }) => `
    with judged as materialized (
      select given.*, exists (
        select from ${ingestRepeat} as same where same.tenant = given.tenant and same.event_id = given.event_id
          and same.kind = given.kind and same.body_hash = given.body_hash
      ) as is_known
      from ${REPEATS.table("given")}
    ), given as materialized (
      select *, row_number() over (partition by tenant, event_id, is_known order by n) as nth from judged
    ), forgotten as (
      delete from ${ingestRepeat} where ctid = any (array(
        select ctid from ${ingestRepeat} as old where old.keep_until <= (select clock_timestamp())
          and not exists (
            select from given where given.tenant = old.tenant and given.event_id = old.event_id
          )
        order by old.keep_until limit ${FORGOTTEN} for update skip locked
      ))
    )
    insert into ${ingestRepeat} as known
      (tenant, event_id, kind, receipts, received_at, last_received_at, headers, body_hash, body, keep_until)
    select tenant, event_id, kind, receipts, to_timestamp(first_ms / 1000), to_timestamp(last_ms / 1000), headers, body_hash,
      case when not exists (
        select from ${event} as event
        where event.public_id = given.event_id and event.tenant = given.tenant and event.body = given.body
      ) then body end,
      clock_timestamp() + make_interval(secs => window_s)
    from given
    where is_known or nth + (
      select count(*) from ${ingestRepeat} as other where other.tenant = given.tenant and other.event_id = given.event_id
    ) <= ${MOST_REPEATED_BODIES}
    order by tenant collate "C", event_id collate "C", kind, body_hash
    on conflict (tenant, event_id, kind, body_hash) do update
      set receipts = known.receipts + excluded.receipts, received_at = least(known.received_at, excluded.received_at),
        last_received_at = greatest(known.last_received_at, excluded.last_received_at),
        keep_until = case when known.keep_until is not null and excluded.keep_until is not null
          then greatest(known.keep_until, excluded.keep_until) end`,
);
