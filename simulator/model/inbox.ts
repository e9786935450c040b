import { equalBytes } from "../../library/src/bytes.js";
import type {
  Acceptance,
  Arrival,
  InboxKey,
  InboxOutcome,
  InboxRow,
  KnownEvent,
} from "../../library/src/inbox/inbox-store.js";
import type { Touches } from "../../library/src/inbox/touches.js";
import type { Model } from "./model.js";
import type { InboxLine } from "./rows.js";

/** What is said of an arrival before its handler is run; undefined when it is to be run. */
export function knownBefore({ rows, rules, clock }: Model, arrival: Arrival): Acceptance | undefined {
  const line = rows.inbox.get(inboxKeyOf(arrival));
  if (line === undefined || !rules.isKnown(line.outcome) || isPast(line, clock.now())) return undefined;
  const same = equalBytes(line.bodyHash, arrival.bodyHash);
  return { kind: same ? "duplicate" : "conflict", known: knownOf(line) };
}

/** Writes what became of an arrival, and returns how often its handler was run. */
export function writeArrival(
  { rows, rules, clock }: Model,
  arrival: Arrival,
  said: {
    readonly outcome: InboxOutcome;
    readonly result?: string | undefined;
    readonly error?: string | undefined;
  },
): number {
  const key = inboxKeyOf(arrival);
  const before = rows.inbox.get(key);
  const nowMs = clock.now();
  const line: InboxLine = {
    // Each by its name: a spread with more behind it costs more than all else that is done here.
    tenant: arrival.tenant,
    source: arrival.source,
    id: arrival.id,
    idPreview: arrival.idPreview,
    type: arrival.type,
    eventAt: arrival.eventAt,
    headers: arrival.headers,
    windowS: arrival.windowS,
    key: arrival.key,
    // The caller may use its buffer again for the next request.
    body: arrival.body.slice(),
    bodyHash: arrival.bodyHash.slice(),
    outcome: said.outcome,
    result: said.result,
    error: said.error ?? before?.error,
    attempts: (before?.attempts ?? 0) + 1,
    receipts: (before?.receipts ?? 0) + 1,
    receivedAtMs: before?.receivedAtMs ?? nowMs,
    lastReceivedAtMs: nowMs,
    // A failed event was never applied: forgotten, its next delivery would look like the first.
    keepUntilMs: said.outcome === "failed" ? undefined : rules.keepUntil(arrival, nowMs),
  };
  rows.inbox.set(key, line);
  return line.attempts;
}

/** A duplicate arrived: its window starts again, and is never made shorter; at most once a minute. */
export function touch({ rows, rules, clock }: Model, touches: Touches, arrival: Arrival): void {
  touches.add(arrival, clock.now());
  if (touches.take(1).length === 0) return;
  const key = inboxKeyOf(arrival);
  const line = rows.inbox.get(key);
  if (line === undefined || line.outcome === "failed") return;
  const untilMs = rules.keepUntil(arrival, clock.now());
  const forEver = line.keepUntilMs === undefined || untilMs === undefined;
  const keepUntilMs = forEver ? undefined : Math.max(line.keepUntilMs, untilMs);
  rows.inbox.set(key, { ...line, receipts: line.receipts + 1, lastReceivedAtMs: clock.now(), keepUntilMs });
}

/** Forgets what is past its window, and says how many. */
export function purge({ rows, clock }: Model, maxRows: number): number {
  let removed = 0;
  for (const [key, line] of rows.inbox) {
    if (!isPast(line, clock.now()) || removed >= maxRows) continue;
    rows.inbox.delete(key);
    removed++;
  }
  return removed;
}

/** Whether the window of a row has passed, so that its event is new again. */
export function isPast({ keepUntilMs }: InboxLine, nowMs: number): boolean {
  return keepUntilMs !== undefined && keepUntilMs <= nowMs;
}

export function knownOf({ outcome, bodyHash, receivedAtMs }: InboxLine): KnownEvent {
  return { outcome, bodyHash, receivedAt: new Date(receivedAtMs) };
}

export function rowOf(line: InboxLine): InboxRow {
  const { keepUntilMs } = line;
  return {
    ...line,
    body: line.body.slice(),
    bodyHash: line.bodyHash.slice(),
    receivedAt: new Date(line.receivedAtMs),
    lastReceivedAt: new Date(line.lastReceivedAtMs),
    keepUntil: keepUntilMs === undefined ? undefined : new Date(keepUntilMs),
  };
}

// Joined with a separator, ("a:b", "c") and ("a", "b:c") would be one event.
export function inboxKeyOf({ tenant, source, id }: InboxKey): string {
  return `${tenant.length}:${source.length}:${tenant}${source}${id}`;
}
