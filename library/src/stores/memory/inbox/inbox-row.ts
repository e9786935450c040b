import { headersText } from "../../../inbox/arrival/kept-headers.js";
import type {
  Arrival,
  Handled,
  InboxKey,
  InboxRow,
  KnownEvent,
  StoredPayload,
} from "../../../inbox/inbox-store.js";
import { mayTakeOver } from "../../../inbox/inbox-store.js";
import type { Touch } from "../../../inbox/touches.js";
import type { EventLog } from "../outbox/event-log.js";

/** A row as the memory store keeps it: never changed, only replaced. */
export interface StoredRow extends Omit<InboxRow, "receivedAt" | "lastReceivedAt" | "keepUntil"> {
  /** Higher than that of all rows that were written before it. */
  readonly number: number;
  readonly receivedAtMs: number;
  readonly lastReceivedAtMs: number;
  readonly keepUntilMs: number | undefined;
  readonly consumer: string;
  /** 1, and one more with each replay. */
  readonly round: number;
  /** The id of the stored event; undefined where it was handled within its request. */
  readonly storedAs: string | undefined;
}

/** Whether a row says that its event is over; not after its window, when a purge would have removed it, and may never run. */
export function isOver({ outcome, keepUntilMs = Infinity }: StoredRow, nowMs: number): boolean {
  return !mayTakeOver(outcome) && nowMs < keepUntilMs;
}

/** What a row is written over, and when. */
export interface Writing {
  readonly before: StoredRow | undefined;
  readonly nowMs: number;
  /** Of the row, where there was none before. */
  readonly number: number;
}

/** Whose row it is, and of which stored event. */
export interface RowOwner {
  readonly consumer: string;
  readonly storedAs: string | undefined;
}

/** The row after its handler succeeded or was skipped. */
export function appliedRow(
  arrival: Arrival | StoredPayload,
  { outcome, result, because }: Handled,
  { owner, ...writing }: Writing & { readonly owner?: RowOwner },
): StoredRow {
  const keepUntilMs = keepUntil(arrival.windowS, writing.nowMs);
  const arrived = arrivedRow(arrival, writing);
  return { ...arrived, ...owner, outcome, result, error: because ?? writing.before?.error, keepUntilMs };
}

/** The row after its handler failed. It has no end: a failed event was never applied, and must not be forgotten. */
export function failedRow(arrival: Arrival, error: string, writing: Writing): StoredRow {
  const arrived = arrivedRow(arrival, writing);
  return { ...arrived, outcome: "failed", result: undefined, error, keepUntilMs: undefined };
}

/** The row after a duplicate: its window starts again, and never becomes shorter. */
export function touchedRow(row: StoredRow, { windowS, atMs }: Touch): StoredRow {
  const untilMs = keepUntil(windowS, atMs);
  const forEver = row.keepUntilMs === undefined || untilMs === undefined;
  const keepUntilMs = forEver ? undefined : Math.max(row.keepUntilMs, untilMs);
  return { ...row, receipts: row.receipts + 1, lastReceivedAtMs: atMs, keepUntilMs };
}

/** The body and the headers of an event that was stored first lie with the stored event. */
export function payloadOf(
  { tenant, storedAs, body, headers }: StoredRow,
  events: EventLog,
): Pick<InboxRow, "body" | "headers"> {
  if (body !== undefined || storedAs === undefined) return { body, headers };
  const stored = events.find(tenant, storedAs).at(-1);
  return { body: stored?.body, headers: stored && headersText(stored.headers ?? {}) };
}

/** A copy for a caller, with bytes and dates of its own: a caller that changes them changes nothing here. */
export function copyOf(stored: StoredRow, events: EventLog): InboxRow {
  const {
    receivedAtMs,
    lastReceivedAtMs,
    keepUntilMs,
    number: _number,
    consumer: _,
    round: _round,
    storedAs: _as,
    ...row
  } = stored;
  const { body, headers } = payloadOf(stored, events);
  return {
    ...row,
    body: body?.slice(),
    headers,
    bodyHash: row.bodyHash.slice(),
    receivedAt: new Date(receivedAtMs),
    lastReceivedAt: new Date(lastReceivedAtMs),
    keepUntil: keepUntilMs === undefined ? undefined : new Date(keepUntilMs),
  };
}

export function knownOf({ outcome, bodyHash, receivedAtMs }: StoredRow): KnownEvent {
  return { outcome, bodyHash: bodyHash.slice(), receivedAt: new Date(receivedAtMs) };
}

// Joined with a separator, ("a:b", "c") and ("a", "b:c") would be one event.
export function textOf({ tenant, source, id }: InboxKey, consumer = ""): string {
  return JSON.stringify(consumer === "" ? [tenant, source, id] : [tenant, source, id, consumer]);
}

type Arrived = Omit<StoredRow, "outcome" | "result" | "error" | "keepUntilMs">;

function arrivedRow(arrival: StoredPayload & Partial<Arrival>, { before, nowMs, number }: Writing): Arrived {
  const { windowS: _, ...kept } = arrival;
  return {
    ...kept,
    // The caller may use its buffer again for the next request.
    body: arrival.body?.slice(),
    headers: arrival.headers,
    bodyHash: arrival.bodyHash.slice(),
    number: before?.number ?? number,
    consumer: before?.consumer ?? "",
    round: before?.round ?? 1,
    storedAs: before?.storedAs,
    attempts: (before?.attempts ?? 0) + 1,
    receipts: (before?.receipts ?? 0) + 1,
    receivedAtMs: before?.receivedAtMs ?? nowMs,
    lastReceivedAtMs: nowMs,
  };
}

function keepUntil(windowS: number | undefined, nowMs: number): number | undefined {
  return windowS === undefined ? undefined : nowMs + windowS * 1000;
}
