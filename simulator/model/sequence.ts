import { equalBytes } from "../../library/src/bytes.js";
import type { SequenceReport } from "../../library/src/lanes/lane-store.js";
import { FanOut, placeIn } from "../../library/src/outbox/fan-out.js";
import type { Written } from "../../library/src/outbox/outbox-store.js";
import type { OutgoingEvent } from "../../library/src/outbox/outgoing-event.js";
import { sortedEndpoints } from "./endpoints.js";
import { appendTo } from "./lanes.js";
import type { Model } from "./model.js";
import type { EventRow, StageRow } from "./rows.js";

/** Says what becomes of events, by the ids that are known and those before them. */
export function judge({ rows, rules }: Model, events: readonly OutgoingEvent[]): readonly Written[] {
  const fresh = new Map<string, Uint8Array>();
  return events.map((event) => {
    if (!event.idGiven || !rules.remembersIds) return "written";
    const key = idKeyOf(event);
    const hash = event.contentHash ?? event.body;
    const known = fresh.get(key) ?? rows.ids.get(key);
    if (known !== undefined) return equalBytes(known, hash) ? "duplicate" : "conflict";
    fresh.set(key, hash);
    return "written";
  });
}

/** Gives an event its number, as a database does when a row is inserted and not yet committed. */
export function numbered({ rows }: Model, event: OutgoingEvent): EventRow {
  // Each by its name: a spread with one more costs more than all else that is done here.
  return {
    id: event.id,
    idGiven: event.idGiven,
    tenant: event.tenant,
    source: event.source,
    type: event.type,
    key: event.key,
    body: event.body.slice(),
    contentHash: event.contentHash?.slice(),
    contentType: event.contentType,
    headers: event.headers,
    time: event.time,
    deliverAt: event.deliverAt,
    expiresAt: event.expiresAt,
    rowId: rows.nextRow++,
  };
}

/** Commits events: from here on a sequencer sees them. */
export function stage({ rows, rules, clock }: Model, events: readonly EventRow[]): void {
  for (const event of events) {
    if (event.idGiven) rows.ids.set(idKeyOf(event), event.contentHash ?? event.body);
    if (rules.isLater(event, clock.now())) rows.later.push(event);
    else rows.stage.push({ event, target: undefined, round: 1 });
  }
}

/** Gives up to `limit` committed events their places, and what was to wait and is due. */
export function sequence(model: Model, limit: number): SequenceReport {
  const { rows, rules } = model;
  moveDue(model);
  if (rows.stage.length === 0) return { events: 0, more: false };
  const seen = rules.inOrder(rows.stage).filter((row) => rules.isSeen(row, rows.sequencedTo));
  const batch = seen.slice(0, limit);
  const fanOut = new FanOut(sortedEndpoints(model));
  for (const row of batch) {
    place(model, fanOut, row);
    if (row.event.rowId > rows.sequencedTo) rows.sequencedTo = row.event.rowId;
  }
  const report = { events: batch.length, more: seen.length > batch.length };
  if (rules.takesOffStage(report)) {
    const done = new Set(batch);
    rows.stage = rows.stage.filter((row) => !done.has(row));
  }
  return report;
}

/** Everything that is committed is sequenced by the endpoints as they are now, before they change. */
export function drainStage(model: Model): void {
  if (model.rows.stage.length > 0 || model.rows.later.length > 0) sequence(model, Infinity);
}

function moveDue({ rows, rules, clock }: Model): void {
  const nowMs = clock.now();
  if (!rows.later.some(({ deliverAt }) => (deliverAt?.getTime() ?? 0) <= nowMs)) return;
  const due = rows.later.filter(({ deliverAt }) => (deliverAt?.getTime() ?? 0) <= nowMs);
  rows.later = rows.later.filter((event) => !due.includes(event));
  const ordered = due.toSorted((a, b) => (a.deliverAt?.getTime() ?? 0) - (b.deliverAt?.getTime() ?? 0));
  if (!rules.placesLater) return;
  for (const event of ordered) {
    rows.stage.push({ event, target: undefined, round: 1 });
  }
}

function place(model: Model, fanOut: FanOut, { event, target, round }: StageRow): void {
  if (target === undefined) {
    for (const each of fanOut.placesOf({ ...event, isStored: false }))
      appendTo(model, each, { event, round });
    return;
  }
  const endpoint = model.rows.endpoints.get(target);
  if (endpoint !== undefined) appendTo(model, placeIn(endpoint, event), { event, round });
}

function idKeyOf({ tenant, id }: OutgoingEvent): string {
  return `${tenant.length}:${tenant}${id}`;
}
