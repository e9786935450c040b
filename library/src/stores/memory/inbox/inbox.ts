import type { Clock } from "../../../clock.js";
import type {
  Arrival,
  InboxKey,
  InboxStore,
  PurgeLimits,
  PurgeReport,
  RefusedBecause,
} from "../../../inbox/inbox-store.js";
import { Touches } from "../../../inbox/touches.js";
import { MemoryTransaction } from "../client/transaction.js";
import type { EventLog } from "../outbox/event-log.js";
import type { MemoryTx } from "../client/transaction.js";
import { accept } from "./accept.js";
import type { AcceptParts } from "./accept.js";
import { copyOf, failedRow, isOver, knownOf, textOf, touchedRow } from "./inbox-row.js";
import type { StoredRow } from "./inbox-row.js";

/** An event that was refused for good. */
export interface RefusedEvent extends Arrival {
  readonly because: RefusedBecause;
  readonly refusedAt: Date;
}

type Port = InboxStore<MemoryTx, "asynchronous">;

/** The verbs of the inbox. */
export interface MemoryInbox extends Omit<Port, "capabilities" | "transactions"> {
  /** The latest thousand conflicts and stale events, oldest first. */
  refused(): readonly RefusedEvent[];
}

interface InboxParts extends AcceptParts {
  readonly touches: Touches;
  readonly refused: RefusedEvent[];
}

// Refused events have no window of their own: a sender that repeats a conflict would fill the memory.
const REFUSED_KEPT = 1000;
const ROWS_PER_LOOK_AT_THE_CLOCK = 100;

/** What the inbox and the workers of one store share. */
export function openInbox(clock: Clock): AcceptParts {
  let transactions = 0;
  const begin = (): MemoryTransaction => new MemoryTransaction(++transactions);
  let numbers = 0;
  const nextNumber = (): number => ++numbers;
  return { clock, rows: new Map(), nextNumber, applying: new Set<string>(), begin, failures: new Map() };
}

export function createInbox(opened: AcceptParts, events: EventLog): MemoryInbox {
  const parts: InboxParts = { ...opened, touches: new Touches(), refused: [] };
  const { rows } = parts;
  return {
    find: (key) => Promise.resolve(mapped(keptRow(parts, key), knownOf)),
    read: (key) => Promise.resolve(mapped(rows.get(textOf(key)), (row) => copyOf(row, events))),
    accept: (arrival, work, limits) => accept(parts, arrival, work, limits),
    fail: (arrival, error) => Promise.resolve(fail(parts, arrival, error)),
    refuse: (arrival, because) => Promise.resolve(refuse(parts, arrival, because)),
    refused: () => parts.refused.slice(-REFUSED_KEPT),
    touch: (arrival) => touch(parts, arrival),
    // `touch` has written: it costs no statement here.
    flush: () => Promise.resolve(),
    purge: (limits) => Promise.resolve(purge(parts, limits)),
  };
}

/** Undefined also where its window has passed, whether or not a purge has removed it. */
function keptRow({ clock, rows }: InboxParts, key: InboxKey): StoredRow | undefined {
  const row = rows.get(textOf(key));
  return row === undefined || (row.keepUntilMs ?? Infinity) <= clock.now() ? undefined : row;
}

function mapped<T>(row: StoredRow | undefined, map: (row: StoredRow) => T): T | undefined {
  return row === undefined ? undefined : map(row);
}

function fail({ clock, rows, nextNumber, failures }: InboxParts, arrival: Arrival, error: string): void {
  const key = textOf(arrival);
  const before = rows.get(key);
  if (before !== undefined && isOver(before, clock.now())) return;
  const row = failedRow(arrival, error, { before, nowMs: clock.now(), number: nextNumber() });
  rows.set(key, row);
  const { round, attempts: attempt } = row;
  const failure = { round, attempt, failedAt: new Date(clock.now()), error, fingerprint: undefined };
  failures.set(key, [...(before === undefined ? [] : (failures.get(key) ?? [])), failure]);
}

function refuse({ clock, refused }: InboxParts, arrival: Arrival, because: RefusedBecause): void {
  const { body, bodyHash } = arrival;
  const copied = { ...arrival, body: body.slice(), bodyHash: bodyHash.slice() };
  refused.push({ ...copied, because, refusedAt: new Date(clock.now()) });
  if (refused.length >= 2 * REFUSED_KEPT) refused.splice(0, refused.length - REFUSED_KEPT);
}

function touch({ clock, rows, touches }: InboxParts, arrival: Arrival): void {
  touches.add(arrival, clock.now());
  for (const each of touches.take(1)) {
    const key = textOf(each);
    const row = rows.get(key);
    if (row !== undefined && row.outcome !== "failed") rows.set(key, touchedRow(row, each));
  }
}

function purge({ clock, rows, failures }: InboxParts, { maxRows, deadlineMs }: PurgeLimits): PurgeReport {
  const endsAt = clock.monotonic() + deadlineMs;
  const passed = passedKeys(rows, clock.now());
  let removed = 0;
  for (const key of passed) {
    const look = removed > 0 && removed % ROWS_PER_LOOK_AT_THE_CLOCK === 0;
    if (removed >= maxRows || (look && clock.monotonic() >= endsAt)) break;
    rows.delete(key);
    failures.delete(key);
    removed++;
  }
  return { removed, more: removed < passed.length };
}

/** Oldest first. A failed event has no end, and stays. */
function passedKeys(rows: InboxParts["rows"], nowMs: number): readonly string[] {
  const passed = [...rows].flatMap(([key, { keepUntilMs = Infinity }]) =>
    keepUntilMs <= nowMs ? [{ key, keepUntilMs }] : [],
  );
  return passed.toSorted((a, b) => a.keepUntilMs - b.keepUntilMs).map(({ key }) => key);
}
