import { equalBytes } from "../../../bytes.js";
import { filledBy, filledByAnother } from "../../../hold-mark.js";
import type { MarkedEvent } from "../../../hold-mark.js";
import type { IncomingEvent, IncomingName, Ingested } from "../../../outbox/ingest-store.js";
import { holdMarkIn } from "../../../receipt.js";
import { storableBytes } from "../client/client.js";
import { keepUntil, withoutNul } from "../inbox/inbox-row.js";
import { fillPlace } from "../lanes/filled.js";
import { storeEvents } from "./write.js";
import type { OutboxTurn } from "./turn.js";

// Names are kept this much longer than asked, so that an event which is sent again and again is written once a minute.
const SPARE_S = 60;

interface KnownName {
  readonly event_id: string;
  readonly body_hash: Uint8Array | null;
  readonly keep_until: number | null;
}

/**
 * Stores an event of which no name is known, with its names; or fills its place in the sequence of its key. Everything in
 * the one turn, so that nobody comes between.
 */
export function ingestEvent(turn: OutboxTurn, incoming: IncomingEvent): Ingested {
  const ingested = storeUnlessKnown(turn, incoming);
  const { event } = incoming;
  if (ingested.kind === "stored" || filledBy(event) === undefined) return ingested;
  const place = filledByAnother(event, readMarked(turn, event.tenant, ingested.id));
  if (place !== undefined) fillPlace(turn, place);
  return ingested;
}

/** The events of an id, as far as they have places in the sequences of their keys. */
function readMarked({ client }: OutboxTurn, tenant: string, id: string): readonly MarkedEvent[] {
  const rows = client.all(
    "select source, key, receipt from posthorn_event where public_id = ? and tenant = ? and receipt is not null",
    withoutNul(id),
    withoutNul(tenant),
  ) as { source: string; key: string | null; receipt: string }[];
  return rows.map(({ source, key, receipt }) => ({
    tenant,
    source,
    key: key ?? undefined,
    receipt: { hold: holdMarkIn(receipt) },
  }));
}

function storeUnlessKnown(turn: OutboxTurn, { event, names, windowS }: IncomingEvent): Ingested {
  const { tenant } = event;
  const found = names.map((name) => ({ name, known: readName(turn, tenant, name) }));
  const other = found.find(({ name, known }) => known !== undefined && isOther(name, known));
  if (other?.known !== undefined) return { kind: "conflict", id: other.known.event_id };
  const first = found.find(({ known }) => known !== undefined)?.known;
  const id = first?.event_id ?? event.id;
  if (first === undefined) storeEvents(turn, [event]);
  for (const { name, known } of found) {
    if (known === undefined) keepName(turn, name, { tenant, id, windowS });
    else if (name.renews !== false) keepLonger(turn, known, { tenant, name: name.name, windowS });
  }
  return { kind: first === undefined ? "stored" : "duplicate", id };
}

function readName(
  { client, nowMs }: OutboxTurn,
  tenant: string,
  { name }: IncomingName,
): KnownName | undefined {
  return client.get(
    `select event_id, body_hash, keep_until from posthorn_ingest_name
     where tenant = ? and name = ? and (keep_until is null or keep_until > ?)`,
    withoutNul(tenant),
    withoutNul(name),
    nowMs,
  ) as KnownName | undefined;
}

function isOther({ bodyHash }: IncomingName, { body_hash }: KnownName): boolean {
  return bodyHash !== undefined && body_hash !== null && !equalBytes(bodyHash, body_hash);
}

interface Keeping {
  readonly tenant: string;
  readonly windowS: number | undefined;
}

interface NewName extends Keeping {
  readonly id: string;
}

function keepName(
  { client, nowMs }: OutboxTurn,
  { name, bodyHash }: IncomingName,
  { tenant, id, windowS }: NewName,
): void {
  client.run(
    // In place of a name whose window has passed and that was not removed yet.
    `insert or replace into posthorn_ingest_name (tenant, name, event_id, body_hash, keep_until)
     values (?, ?, ?, ?, ?)`,
    withoutNul(tenant),
    withoutNul(name),
    id,
    bodyHash === undefined ? null : storableBytes(bodyHash),
    keepUntil(windowS === undefined ? undefined : windowS + SPARE_S, nowMs),
  );
}

/** Never shorter than before. */
function keepLonger(
  { client, nowMs }: OutboxTurn,
  { keep_until }: KnownName,
  { tenant, name, windowS }: Keeping & { readonly name: string },
): void {
  if (keep_until === null) return;
  const wanted = keepUntil(windowS, nowMs);
  if (wanted !== null && wanted <= keep_until) return;
  client.run(
    "update posthorn_ingest_name set keep_until = ? where tenant = ? and name = ?",
    wanted === null ? null : wanted + SPARE_S * 1000,
    withoutNul(tenant),
    withoutNul(name),
  );
}
