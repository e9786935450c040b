import { encodeHex } from "../../../../bytes.js";
import {
  byNumber,
  inboxCursorOf,
  inboxSpotOf,
  keyCursorOf,
  keyOfCursor,
} from "../../../../operator/inbox-cursor.js";
import type {
  InboxAddress,
  InboxFilter,
  InboxPrefix,
  InboxRecord,
  RefusedFilter,
  RefusedRecord,
} from "../../../../operator/inbox-view-store.js";
import type { Page, Paged } from "../../../../operator/operator-store.js";
import type { RefusedEvent } from "../../inbox/inbox.js";
import { payloadOf } from "../../inbox/inbox-row.js";
import type { StoredRow } from "../../inbox/inbox-row.js";
import type { EventLog } from "../../outbox/event-log.js";
import { pageOf } from "./page.js";

/** Rows, and the stored events that have the payloads of some. */
interface Kept {
  readonly rows: ReadonlyMap<string, StoredRow>;
  readonly events: EventLog;
}

/** Rows by the time of their first receipt. */
export function inboxRows(kept: Kept, filter: InboxFilter, { limit, after }: Page): Paged<InboxRecord> {
  const way = filter.order === "oldest" ? 1 : -1;
  const spot = inboxSpotOf(after, byNumber);
  const found = [...kept.rows.values()]
    .filter((row) => matches(row, filter))
    .toSorted((a, b) => way * byTime(a, b));
  const rest =
    spot === undefined
      ? found
      : found.filter((row) => {
          const receivedAtMs = Number(spot.at);
          if (spot.row === undefined) return way * (row.receivedAtMs - receivedAtMs) >= 0;
          return way * byTime(row, { receivedAtMs, number: Number(spot.row[0]) }) > 0;
        });
  const page = pageOf(rest, limit, ({ receivedAtMs, number }) =>
    inboxCursorOf({ at: BigInt(receivedAtMs), row: [String(number)] }),
  );
  return { ...page, items: page.items.map((row) => recordOf(row, kept)) };
}

/** Rows whose ids begin with a text. */
export function inboxByPrefix(
  kept: Kept,
  { tenant, source, prefix }: InboxPrefix,
  { limit, after }: Page,
): Paged<InboxRecord> {
  const [id = "", consumer = ""] = keyOfCursor(after, 2) ?? [];
  const found = [...kept.rows.values()]
    .filter((row) => row.tenant === tenant && row.source === source && row.id.startsWith(prefix))
    .filter((row) => after === undefined || compare([row.id, row.consumer], [id, consumer]) > 0)
    .toSorted((a, b) => compare([a.id, a.consumer], [b.id, b.consumer]));
  const page = pageOf(found, limit, (row) => keyCursorOf([row.id, row.consumer]));
  return { ...page, items: page.items.map((row) => recordOf(row, kept)) };
}

/** The rows of one event. */
export function inboxRowsOf(
  kept: Kept,
  { tenant, source, id }: Omit<InboxAddress, "consumer">,
): readonly InboxRecord[] {
  return [...kept.rows.values()]
    .filter((row) => row.tenant === tenant && row.source === source && row.id === id)
    .toSorted((a, b) => compare([a.consumer], [b.consumer]))
    .map((row) => recordOf(row, kept));
}

/** What was refused for good, one for each body. */
export function refusedEvents(
  refused: readonly RefusedEvent[],
  filter: RefusedFilter,
  { limit, after }: Page,
): Paged<RefusedRecord> {
  const from = keyOfCursor(after, 5);
  const byBody = new Map<string, RefusedRecord>();
  for (const event of refused) {
    const key = JSON.stringify(refusedKey(event));
    const known = byBody.get(key);
    const { windowS: _, headers, refusedAt, ...rest } = event;
    byBody.set(key, {
      ...rest,
      key: event.key,
      headers: JSON.parse(headers) as Record<string, string>,
      receipts: (known?.receipts ?? 0) + 1,
      refusedAt: known?.refusedAt ?? refusedAt,
      lastRefusedAt: refusedAt,
    });
  }
  const found = [...byBody.values()]
    .filter(({ tenant, source, id, because }) => {
      const wanted = [
        [filter.tenant, tenant],
        [filter.source, source],
        [filter.id, id],
        [filter.because, because],
      ];
      return wanted.every(([asked, is]) => asked === undefined || asked === is);
    })
    .filter((event) => from === undefined || compare(refusedKey(event), from) > 0)
    .toSorted((a, b) => compare(refusedKey(a), refusedKey(b)));
  return pageOf(found, limit, (event) => keyCursorOf(refusedKey(event)));
}

function refusedKey(
  event: Pick<RefusedRecord, "tenant" | "source" | "id" | "because" | "bodyHash">,
): string[] {
  return [event.tenant, event.source, event.id, event.because, encodeHex(event.bodyHash)];
}

function matches(row: StoredRow, filter: InboxFilter): boolean {
  const { tenant, source, consumer, outcome, type, since, until } = filter;
  return (
    (tenant === undefined || row.tenant === tenant) &&
    (source === undefined || row.source === source) &&
    (consumer === undefined || row.consumer === consumer) &&
    (outcome === undefined || row.outcome === outcome) &&
    (type === undefined || row.type === type) &&
    (since === undefined || row.receivedAtMs >= since.getTime()) &&
    (until === undefined || row.receivedAtMs < until.getTime())
  );
}

type Spot = Pick<StoredRow, "receivedAtMs" | "number">;

function byTime(a: Spot, b: Spot): number {
  return a.receivedAtMs - b.receivedAtMs || a.number - b.number;
}

function compare(left: readonly string[], right: readonly string[]): number {
  for (const [n, text] of left.entries()) {
    const other = right[n] ?? "";
    if (text !== other) return text < other ? -1 : 1;
  }
  return 0;
}

function recordOf(row: StoredRow, { events }: Kept): InboxRecord {
  const {
    receivedAtMs,
    lastReceivedAtMs,
    keepUntilMs,
    number: _number,
    body: _body,
    bodyHash: _,
    headers: _headers,
    ...rest
  } = row;
  return {
    ...rest,
    bodyBytes: payloadOf(row, events).body?.length ?? 0,
    receivedAt: new Date(receivedAtMs),
    lastReceivedAt: new Date(lastReceivedAtMs),
    keepUntil: keepUntilMs === undefined ? undefined : new Date(keepUntilMs),
  };
}
