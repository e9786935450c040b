import { equalBytes } from "../../../bytes.js";
import { directionOf, isStored } from "../../../outbox/outgoing-event.js";
import type { OutgoingEvent } from "../../../outbox/outgoing-event.js";
import { receiptText } from "../../../receipt.js";
import type { Written } from "../../../outbox/outbox-store.js";
import { storableBytes } from "../client/client.js";
import type { SqliteClient } from "../client/client.js";
import { withoutNul } from "../inbox/inbox-row.js";
import type { OutboxTurn } from "./turn.js";
import type { Addressed } from "../../../outbox/fan-out.js";
import type { PlacedEvent } from "../lanes/places.js";
import { placeEvents } from "../lanes/places.js";
import { isDrained, PLACES_PER_TURN } from "../lanes/sequence.js";
import { stageEvent } from "../lanes/stage.js";

const NO_HASH = new Uint8Array();

/** Writes events and gives them their places, or writes nothing where one of them is a conflict. */
export function writeEvents(turn: OutboxTurn, events: readonly OutgoingEvent[]): readonly Written[] {
  const verdicts = judgeIds(turn.client, events);
  if (verdicts.includes("conflict")) return verdicts;
  const fresh = events.filter((_, index) => verdicts[index] === "written");
  for (const event of fresh) if (event.idGiven) keepId(turn.client, event);
  storeEvents(turn, fresh);
  return verdicts;
}

/**
 * Stores events. They get their places at once, unless that would keep the event loop from everything else, or others of
 * their tenant wait for theirs: `sequence` gives them theirs then, in the same order.
 */
export function storeEvents(turn: OutboxTurn, events: readonly OutgoingEvent[]): void {
  const { fanOut } = turn.consumers;
  const passable = new Map<string, boolean>();
  const placed: PlacedEvent[] = [];
  let room = PLACES_PER_TURN;
  for (const event of events) {
    const { tenant, deliverAt } = event;
    // What waits for its places already comes first: nothing may pass it.
    const mayPass = passable.get(tenant) ?? isDrained(turn, tenant);
    const number = insertEvent(turn, event);
    if (deliverAt !== undefined && deliverAt.getTime() > turn.nowMs) {
      putOff(turn.client, number, deliverAt.getTime());
      passable.set(tenant, mayPass);
      continue;
    }
    const addressed = addressOf(event);
    const { places, isDone } = fanOut.partOf(addressed, () => true, room);
    // What no handler matches is set aside by `sequence`, which also holds what comes before its turn.
    const isPlaced = mayPass && isDone && !fanOut.isUnclaimed(addressed) && event.receipt?.hold === undefined;
    passable.set(tenant, isPlaced);
    if (isPlaced) {
      placed.push({ number, places });
      room -= places.length;
    } else stageEvent(turn, tenant, number);
  }
  placeEvents(turn, placed);
}

function addressOf(event: OutgoingEvent): Addressed {
  const { tenant, source, type, key } = event;
  return { tenant, source, type, key, isStored: isStored(event) };
}

// Before anything is written: a conflict that is found later could no longer be taken back out of the host's transaction.
function judgeIds(client: SqliteClient, events: readonly OutgoingEvent[]): Written[] {
  const here = new Map<string, Uint8Array>();
  return events.map(({ id, idGiven, tenant, contentHash = NO_HASH }) => {
    if (!idGiven) return "written";
    const name = JSON.stringify([tenant, id]);
    const known = here.get(name) ?? knownHash(client, tenant, id);
    if (known !== undefined) return equalBytes(known, contentHash) ? "duplicate" : "conflict";
    here.set(name, contentHash);
    return "written";
  });
}

function knownHash(client: SqliteClient, tenant: string, id: string): Uint8Array | undefined {
  const row = client.get(
    "select content_hash from posthorn_outbox_key where tenant = ? and public_id = ?",
    withoutNul(tenant),
    id,
  ) as { content_hash: Uint8Array } | undefined;
  return row?.content_hash;
}

function keepId(client: SqliteClient, { tenant, id, contentHash = NO_HASH }: OutgoingEvent): void {
  client.run(
    "insert into posthorn_outbox_key (tenant, public_id, content_hash) values (?, ?, ?)",
    withoutNul(tenant),
    id,
    storableBytes(contentHash),
  );
}

function insertEvent({ client, nowMs }: OutboxTurn, event: OutgoingEvent): bigint {
  return client.insert(
    `insert into posthorn_event
       (public_id, tenant, source, type, key, content_type, event_at, expires_at, written_at, body, headers, deliver_at,
        direction, provider_id, verified_by, receipt, caused_by)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    event.id,
    withoutNul(event.tenant),
    withoutNul(event.source),
    withoutNul(event.type),
    event.key === undefined ? null : withoutNul(event.key),
    withoutNul(event.contentType),
    event.time.getTime(),
    event.expiresAt?.getTime() ?? null,
    nowMs,
    storableBytes(event.body),
    event.headers === undefined ? null : JSON.stringify(event.headers),
    event.deliverAt?.getTime() ?? null,
    directionOf(event),
    maybeText(event.origin?.providerId),
    maybeText(event.origin?.verifiedBy),
    event.receipt === undefined ? null : receiptText(event.receipt),
    maybeText(event.causedBy),
  );
}

function maybeText(text: string | undefined): string | null {
  return text === undefined ? null : withoutNul(text);
}

function putOff(client: SqliteClient, event: bigint, deliverAtMs: number): void {
  client.run("insert into posthorn_later (deliver_at, event) values (?, ?)", deliverAtMs, event);
}
