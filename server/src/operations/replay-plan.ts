import type { InboxQuery, OperationPlan } from "posthorn/client";
import { handlerId, inboxName } from "posthorn/gateway";
import type { InboxFilter, InboxRecord } from "posthorn/operator";
import { problem } from "../http/problem.js";
import { timeRange } from "../http/time-range.js";
import type { ServerParts } from "../parts.js";
import type { StoredPlan } from "../store/operation.js";
import { MOST_ITEMS, planOf, REMEMBERED_MS } from "./plan.js";

const PAGE = 1000;

/** Reads what a person asks for into the store's filter: what was applied, oldest first. */
export function replayFilterOf(query: InboxQuery, nowMs: number): InboxFilter {
  const { tenant, source, consumer, type, outcome } = query;
  if (outcome !== undefined && outcome !== "success") {
    throw problem(
      "request_invalid",
      "Only what was applied is replayed: leave `outcome` out. What failed or was skipped is redriven, by /inbox/{id}/redrive.",
      { field: "outcome" },
    );
  }
  const { since, until } = timeRange(
    {
      ...(query.since !== undefined && { since: query.since }),
      ...(query.until !== undefined && { until: query.until }),
    },
    nowMs,
  );
  return {
    tenant,
    source,
    consumer: consumer === undefined ? undefined : inboxName(consumer),
    type,
    outcome: "success",
    since,
    until,
    order: "oldest",
  };
}

/** The same query with instants in place of ages, and an end: what is applied after the plan is not meant. */
export function fixedReplay(query: InboxQuery, nowMs: number): InboxQuery {
  const { since, until } = replayFilterOf(query, nowMs);
  const { outcome: _, ...narrowing } = query;
  if (Object.values(narrowing).every((wanted) => wanted === undefined)) {
    throw problem(
      "request_invalid",
      "Say what is to be replayed, by source, consumer, type, tenant, since or until: everything that was ever applied is too much.",
      { field: "filter.inbox" },
    );
  }
  return {
    ...query,
    ...(since !== undefined && { since: since.toISOString() }),
    // The end is not part of it, and this very millisecond is.
    until: (until ?? new Date(nowMs + 1)).toISOString(),
  };
}

/** Counts what a replay would apply again, and says what to know before. */
export async function planReplay(
  { outbox, clock }: Pick<ServerParts, "outbox" | "clock">,
  query: InboxQuery,
): Promise<StoredPlan> {
  const filter = replayFilterOf(query, clock.now());
  const remembered = clock.now() - REMEMBERED_MS;
  const counts = new Map<string, number>();
  let [count, forgotten, more] = [0, 0, false];
  for (let after: string | undefined; ;) {
    const { items, next } = await outbox.inboxRows(filter, { limit: PAGE, after });
    for (const { consumer, receivedAt } of items.slice(0, MOST_ITEMS - count)) {
      counts.set(consumer, (counts.get(consumer) ?? 0) + 1);
      if (receivedAt.getTime() < remembered) forgotten += 1;
    }
    more = count + items.length > MOST_ITEMS || (next !== undefined && count + items.length >= MOST_ITEMS);
    count = Math.min(MOST_ITEMS, count + items.length);
    if (next === undefined || more) break;
    after = next;
  }
  const plan = planOf({
    verb: "replay",
    count,
    more,
    lanes: 0,
    blocking: 0,
    waitingBehind: 0,
    endpoints: await consumersOf(outbox, counts),
    oldest: undefined,
    newest: undefined,
    sample: [],
    next: [],
    forgotten,
    underWay: 0,
  });
  return { ...plan, upTo: null, targets: [] };
}

async function consumersOf(
  outbox: ServerParts["outbox"],
  counts: ReadonlyMap<string, number>,
): Promise<OperationPlan["endpoints"]> {
  const states = new Map((await outbox.readHandlers()).map(({ id, state }) => [id, state]));
  return [...counts].map(([name, count]) => {
    const id = handlerId(name);
    return { id, count, state: states.get(id) ?? "disabled" };
  });
}

/** A row as an item of an operation keeps it. */
export function writeAddress({ tenant, source, id, consumer }: InboxRecord): string {
  return JSON.stringify([tenant, source, id, consumer]);
}

export function readAddress(text: string | null) {
  const [tenant = "", source = "", id = "", consumer = ""] = JSON.parse(text ?? "[]") as string[];
  return { tenant, source, id, consumer };
}
