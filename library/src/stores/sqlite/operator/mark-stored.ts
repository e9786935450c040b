import { reach } from "#faults";
import { arrivalOf } from "../../../inbox/worker/stored-arrival.js";
import type { StoredPayload } from "../../../inbox/inbox-store.js";
import type { UnhandledEvent } from "../../../operator/replay-store.js";
import { readReceipt } from "../../../receipt.js";
import { claimRow } from "../inbox/accept.js";
import type { OutboxTurn } from "../outbox/turn.js";

/** An event at a consumer, as the inbox names it. */
export interface AtConsumer {
  readonly tenant: string;
  readonly eventId: string;
  readonly consumer: string;
}

/** The event, where it was stored for handlers and the inbox has no row of it. */
export function unhandled(turn: OutboxTurn, at: AtConsumer): readonly UnhandledEvent[] {
  const arrival = readArrival(turn, at);
  if (arrival === undefined || hasRow(turn, arrival, at)) return [];
  const { source, id, type, eventAt } = arrival;
  return [{ eventId: at.eventId, source, id, type, eventAt }];
}

/** Writes the row of an event as if its handler had succeeded. */
export function markStored(turn: OutboxTurn, at: AtConsumer): boolean {
  const arrival = readArrival(turn, at);
  if (arrival === undefined || hasRow(turn, arrival, at)) return false;
  const { client, nowMs } = turn;
  const { consumer, eventId: storedAs } = at;
  // For ever: its dead letter and its event stay for as long, and a redrive after the row would apply it a second time.
  const kept = { ...arrival, windowS: undefined };
  reach("mark.before_record");
  const marked = claimRow(client, kept, { nowMs, consumer, storedAs });
  reach("mark.after_record");
  return marked !== undefined;
}

function hasRow({ client }: OutboxTurn, { tenant, source, id }: StoredPayload, at: AtConsumer): boolean {
  const found = client.get(
    "select 1 as found from posthorn_inbox where tenant = ? and source = ? and event_id = ? and consumer = ?",
    tenant,
    source,
    id,
    at.consumer,
  );
  return found !== undefined;
}

function readArrival({ client }: OutboxTurn, { tenant, eventId }: AtConsumer): StoredPayload | undefined {
  const row = client.get(
    `select source, type, receipt from posthorn_event
     where tenant = ? and public_id = ? and receipt is not null order by id desc limit 1`,
    tenant,
    eventId,
  ) as { source: string; type: string; receipt: string } | undefined;
  if (row === undefined) return undefined;
  const { source, type, receipt } = row;
  return arrivalOf({ event: { id: eventId, tenant, source, type, receipt: readReceipt(receipt) } });
}
