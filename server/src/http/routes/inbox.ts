import type { FastifyInstance } from "fastify";
import type { InboxEvent, InboxFailure, InboxQuery, InboxRow, Page, RefusedEvent } from "posthorn/client";
import { handlerId, inboxName, nameOfId } from "posthorn/gateway";
import type { InboxRecord } from "posthorn/operator";
import type { ApiParts } from "../api-parts.js";
import { PAGE_QUERY, pageSchema } from "../page.js";
import type { PageQuery } from "../page.js";
import { notFound, problem, shown } from "../problem.js";
import { showDelivery } from "../resources/delivery.js";
import { showHeld } from "../resources/held.js";
import {
  INBOX_QUERY,
  showFailedAttempt,
  showFailure,
  showInboxRow,
  showRefused,
} from "../resources/inbox.js";
import { PLAIN_TEXT, query, routeSchema } from "../route-schema.js";
import { timeRange } from "../time-range.js";

const tag = "inbox";
const DEFAULT_TENANT = "default";
// How much of one event is shown.
const MOST_REFUSED = 100;

type ListQuery = InboxQuery & PageQuery & { readonly id?: string };
type RefusedQuery = PageQuery & {
  readonly tenant?: string;
  readonly source?: string;
  readonly because?: "conflict" | "stale";
};

/** `source/event`, as it stands in paths. */
export interface OneEvent {
  readonly Params: { readonly id: string };
  readonly Querystring: { readonly tenant?: string };
}

/** /inbox: what came in for handlers, and what they made of it. */
export function registerInbox(api: FastifyInstance, parts: ApiParts): void {
  api.get<{ Querystring: ListQuery }>("/inbox", { schema: LIST }, ({ query: asked }) => list(parts, asked));
  api.get<OneEvent>("/inbox/:id", { schema: GET }, ({ params, query: { tenant = DEFAULT_TENANT } }) =>
    readInboxEvent(parts, tenant, params.id),
  );
  api.get<{ Querystring: RefusedQuery }>(
    "/refused",
    { schema: REFUSED },
    async ({ query: { limit, after, ...filter } }): Promise<Page<RefusedEvent>> => {
      const { items, next } = await parts.outbox.refusedEvents(filter, { limit, after });
      return { items: items.map(showRefused), next: next ?? null };
    },
  );
}

async function list({ outbox, clock }: ApiParts, asked: ListQuery): Promise<Page<InboxRow>> {
  const { limit, after, since, until, id, consumer, ...filter } = asked;
  if (id !== undefined) return listByPrefix(outbox, asked, id);
  const range = timeRange(
    { ...(since !== undefined && { since }), ...(until !== undefined && { until }) },
    clock.now(),
  );
  const named = consumer === undefined ? {} : { consumer: inboxName(consumer) };
  // What this version of the store does not know is an outcome that no row has.
  const wanted = { ...filter, ...named, ...range } as Parameters<typeof outbox.inboxRows>[0];
  return shownPage(await outbox.inboxRows(wanted, { limit, after }));
}

async function listByPrefix(
  outbox: ApiParts["outbox"],
  asked: ListQuery,
  prefix: string,
): Promise<Page<InboxRow>> {
  const { tenant = DEFAULT_TENANT, source, limit, after } = asked;
  const other = Object.keys(asked).find(
    (name) => !["id", "tenant", "source", "limit", "after"].includes(name),
  );
  if (source === undefined || other !== undefined) {
    throw problem(
      "request_invalid",
      "`id` finds ids by their beginning, in the key of the inbox, which has tenant, source and id: name the `source`, and nothing else.",
      { field: other ?? "source" },
    );
  }
  return shownPage(await outbox.inboxByPrefix({ tenant, source, prefix }, { limit, after }));
}

function shownPage({
  items,
  next,
}: {
  readonly items: readonly InboxRecord[];
  readonly next: string | undefined;
}): Page<InboxRow> {
  return { items: items.map(showInboxRow), next: next ?? null };
}

/** The source and the event of a name in a path. A source has no slash; an id may. */
export function eventNamed(id: string): { readonly source: string; readonly eventId: string } {
  const slash = id.indexOf("/");
  if (slash > 0) return { source: id.slice(0, slash), eventId: id.slice(slash + 1) };
  throw problem(
    "request_invalid",
    `${shown(id)} names no event of the inbox; expected its source and its id, as in stripe/evt_1.`,
    { field: "id" },
  );
}

/** All that is known of one event of the inbox. */
export async function readInboxEvent(
  { outbox, clock }: ApiParts,
  tenant: string,
  id: string,
): Promise<InboxEvent> {
  const { source, eventId } = eventNamed(id);
  const rows = await outbox.inboxRowsOf(tenant, source, eventId);
  const { items: refused } = await outbox.refusedEvents(
    { tenant, source, id: eventId },
    { limit: MOST_REFUSED },
  );
  const named = await outbox.namedEvents(tenant, [nameOfId(source, eventId)]);
  const stored = [...new Set([...rows.flatMap(({ storedAs }) => storedAs ?? []), ...named])];
  const deliveries = stored.length === 0 ? [] : await outbox.deliveriesOf(tenant, stored);
  if (rows.length + refused.length + stored.length === 0) throw notFound("event in the inbox", id);
  const held = await Promise.all(stored.map((storedId) => outbox.heldEvent(tenant, storedId)));
  const failures: InboxFailure[] = [];
  for (const row of rows) {
    const found = await outbox.inboxFailures(row);
    failures.push(...found.map((failure) => showFailure(failure, handlerId(row.consumer))));
  }
  for (const { id: deliveryId, endpointId: consumerId } of deliveries) {
    const attempts = await outbox.attempts(deliveryId);
    failures.push(...attempts.flatMap((attempt) => showFailedAttempt(attempt, { consumerId, deliveryId })));
  }
  return {
    id,
    tenant,
    source,
    eventId,
    rows: rows.map(showInboxRow),
    failures: failures.toSorted((a, b) => (a.at < b.at ? -1 : 1)),
    deliveries: deliveries.map(showDelivery),
    refused: refused.map(showRefused),
    held: held.flatMap((each) => (each === undefined ? [] : [showHeld(each, clock.now())])),
  };
}

/** Ids of up to 255 bytes, with their source before them. */
export const EVENT_PARAM: object = {
  type: "object",
  required: ["id"],
  properties: { id: { ...PLAIN_TEXT, maxLength: 600, description: "`source/event`." } },
};

const LIST = routeSchema({
  operationId: "listInbox",
  summary:
    "Rows of the inbox, newest first. Of what a filter leaves out only so much is looked at: a page may hold fewer than it could.",
  tag,
  querystring: query({
    ...INBOX_QUERY,
    id: { ...PLAIN_TEXT, description: "Ids that begin with this; only together with `source`." },
    ...PAGE_QUERY,
  }),
  answers: { 200: pageSchema("InboxRow") },
});

const GET = routeSchema({
  operationId: "getInboxEvent",
  summary:
    "One event of the inbox: its rows, failures, deliveries to handlers, and what was refused under its id.",
  tag,
  params: EVENT_PARAM,
  querystring: query({ tenant: PLAIN_TEXT }),
  answers: { 200: { $ref: "InboxEvent#" } },
});

const REFUSED = routeSchema({
  operationId: "listRefused",
  summary: "Conflicts and stale events, by tenant, source and id.",
  tag,
  querystring: query({
    tenant: PLAIN_TEXT,
    source: PLAIN_TEXT,
    because: { type: "string", enum: ["conflict", "stale"] },
    ...PAGE_QUERY,
  }),
  answers: { 200: pageSchema("RefusedEvent") },
});
