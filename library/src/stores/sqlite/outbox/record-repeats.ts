import { equalBytes } from "../../../bytes.js";
import { gatherRepeats } from "../../../outbox/gather-repeats.js";
import type { GatheredRepeat } from "../../../outbox/gather-repeats.js";
import type { IncomingRepeat } from "../../../outbox/ingest-store.js";
import { MOST_REPEATED_BODIES } from "../../../outbox/ingest-store.js";
import { plainBytes, storableBytes } from "../client/client.js";
import { keepUntil, withoutNul } from "../inbox/inbox-row.js";
import type { OutboxSession } from "./session.js";
import type { OutboxTurn } from "./turn.js";

// How many rows whose window has passed go with each batch: more than a batch adds, so that they do not pile up.
const FORGOTTEN = 1000;
// How many one turn takes, so that it leaves the event loop free after a few milliseconds.
const PER_TURN = 100;

/** Records duplicates and conflicts. */
export async function recordRepeats(
  session: OutboxSession,
  repeats: readonly IncomingRepeat[],
): Promise<void> {
  const rows = gatherRepeats(repeats);
  for (let from = 0; from < rows.length; from += PER_TURN) {
    await session.write((turn) => {
      if (from === 0) forgetSome(turn);
      for (const row of rows.slice(from, from + PER_TURN)) recordOne(turn, row);
    });
  }
}

function recordOne(turn: OutboxTurn, repeat: GatheredRepeat): void {
  const { client, nowMs } = turn;
  const { kind, bodyHash, windowS, receipts, receivedAt, lastAt, headers } = repeat;
  const tenant = withoutNul(repeat.tenant);
  const until = keepUntil(windowS, nowMs);
  const changed = client.run(
    `update posthorn_ingest_repeat set receipts = receipts + ?, received_at = min(received_at, ?), last_received_at = max(last_received_at, ?),
       keep_until = case when keep_until is not null and ? is not null then max(keep_until, ?) end
     where tenant = ? and event_id = ? and kind = ? and body_hash = ?`,
    receipts,
    receivedAt.getTime(),
    lastAt.getTime(),
    until,
    until,
    tenant,
    repeat.eventId,
    kind,
    storableBytes(bodyHash),
  );
  if (changed > 0 || isFull(turn, tenant, repeat.eventId)) return;
  client.run(
    `insert into posthorn_ingest_repeat
       (tenant, event_id, kind, receipts, received_at, last_received_at, headers, body_hash, body, keep_until)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    tenant,
    repeat.eventId,
    kind,
    receipts,
    receivedAt.getTime(),
    lastAt.getTime(),
    JSON.stringify(headers),
    storableBytes(bodyHash),
    isOwnBody(turn, tenant, repeat) ? null : storableBytes(repeat.body),
    until,
  );
}

function isFull({ client }: OutboxTurn, tenant: string, eventId: string): boolean {
  const { found } = client.get(
    "select count(*) as found from posthorn_ingest_repeat where tenant = ? and event_id = ?",
    tenant,
    eventId,
  ) as { found: number };
  return found >= MOST_REPEATED_BODIES;
}

function isOwnBody({ client }: OutboxTurn, tenant: string, { eventId, body }: IncomingRepeat): boolean {
  const row = client.get(
    "select body from posthorn_event where public_id = ? and tenant = ? order by id desc limit 1",
    eventId,
    tenant,
  ) as { body: Uint8Array } | undefined;
  return row !== undefined && equalBytes(plainBytes(row.body), body);
}

function forgetSome({ client, nowMs }: OutboxTurn): void {
  client.run(
    `delete from posthorn_ingest_repeat where id in (
       select id from posthorn_ingest_repeat where keep_until <= ? order by keep_until limit +?)`,
    nowMs,
    FORGOTTEN,
  );
}
