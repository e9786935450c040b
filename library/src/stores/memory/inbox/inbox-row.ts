import type { Arrival, Handled, InboxRow, KnownEvent } from "../../../inbox/inbox-store.js";

const MINUTE_MS = 60_000;

/** A row as the memory store keeps it: never changed, only replaced. */
export interface StoredRow extends Omit<InboxRow, "receivedAt" | "lastReceivedAt" | "keepUntil"> {
  readonly receivedAtMs: number;
  readonly lastReceivedAtMs: number;
  readonly keepUntilMs: number | undefined;
}

/** The row after its handler succeeded or was skipped. */
export function appliedRow(
  arrival: Arrival,
  { outcome, result }: Handled,
  { before, nowMs }: { readonly before: StoredRow | undefined; readonly nowMs: number },
): StoredRow {
  return { ...arrivedRow(arrival, before, nowMs), outcome, result, error: before?.error };
}

/** The row after its handler failed. */
export function failedRow(
  arrival: Arrival,
  error: string,
  { before, nowMs }: { readonly before: StoredRow | undefined; readonly nowMs: number },
): StoredRow {
  return { ...arrivedRow(arrival, before, nowMs), outcome: "failed", result: undefined, error };
}

/** The row after a duplicate: the window starts again, never a shorter one, and receipts are counted once a minute. */
export function touchedRow(row: StoredRow, { windowS }: Arrival, nowMs: number): StoredRow {
  const untilMs = keepUntil(windowS, nowMs);
  const forEver = row.keepUntilMs === undefined || untilMs === undefined;
  const keepUntilMs = forEver ? undefined : Math.max(row.keepUntilMs, untilMs);
  if (nowMs - row.lastReceivedAtMs < MINUTE_MS) return { ...row, keepUntilMs };
  return { ...row, receipts: row.receipts + 1, lastReceivedAtMs: nowMs, keepUntilMs };
}

/** The row as a caller may have it: with bytes and dates of its own, so that changing them changes nothing here. */
export function copyOf({ receivedAtMs, lastReceivedAtMs, keepUntilMs, ...row }: StoredRow): InboxRow {
  return {
    ...row,
    body: row.body.slice(),
    bodyHash: row.bodyHash.slice(),
    receivedAt: new Date(receivedAtMs),
    lastReceivedAt: new Date(lastReceivedAtMs),
    keepUntil: keepUntilMs === undefined ? undefined : new Date(keepUntilMs),
  };
}

export function knownOf({ outcome, bodyHash, receivedAtMs }: StoredRow): KnownEvent {
  return { outcome, bodyHash: bodyHash.slice(), receivedAt: new Date(receivedAtMs) };
}

type Arrived = Omit<StoredRow, "outcome" | "result" | "error">;

function arrivedRow(arrival: Arrival, before: StoredRow | undefined, nowMs: number): Arrived {
  const { windowS, ...kept } = arrival;
  return {
    ...kept,
    // The caller may use its buffer again for the next request.
    body: arrival.body.slice(),
    bodyHash: arrival.bodyHash.slice(),
    attempts: (before?.attempts ?? 0) + 1,
    receipts: (before?.receipts ?? 0) + 1,
    receivedAtMs: before?.receivedAtMs ?? nowMs,
    lastReceivedAtMs: nowMs,
    keepUntilMs: keepUntil(windowS, nowMs),
  };
}

function keepUntil(windowS: number | undefined, nowMs: number): number | undefined {
  return windowS === undefined ? undefined : nowMs + windowS * 1000;
}
