import type { FastifyInstance } from "fastify";
import type { EventDetail, EventInput, EventSummary, Page } from "posthorn/client";
import type { StoredEvent } from "posthorn/operator";
import type { ApiParts } from "../api-parts.js";
import { tokenOf } from "../auth/token-check.js";
import { PAGE_QUERY, pageSchema } from "../page.js";
import type { PageQuery } from "../page.js";
import { notFound } from "../problem.js";
import { idempotencyOf, publicationOf } from "../publication.js";
import { showEvent, showEventDetail } from "../resources/event.js";
import { BYTES, param, PLAIN_TEXT, query, routeSchema } from "../route-schema.js";
import { sendAttachment } from "../strict-headers.js";

const tag = "events";

/** Event ids are unique within a tenant only. */
export const TENANT = { ...PLAIN_TEXT, default: "default" } as const;

interface OneEvent {
  readonly Params: { readonly id: string };
  readonly Querystring: { readonly tenant: string };
}

interface EventFilter extends PageQuery {
  readonly tenant?: string;
  readonly source?: string;
  readonly type?: string;
  readonly key?: string;
}

// A batch holds many bodies, and base64 adds a third; the sender has a token.
const PUBLISH_BODIES = 4;
export const MOST_EVENTS = 1000;

/** /events: publish and look up events. */
export function registerEvents(api: FastifyInstance, parts: ApiParts): void {
  registerPublish(api, parts);
  api.get<{ Querystring: EventFilter }>("/events", { schema: LIST }, async ({ query: asked }) =>
    list(parts, asked),
  );
  api.get<OneEvent>(
    "/events/:id",
    { schema: GET },
    async ({ params, query: { tenant } }): Promise<EventDetail> => {
      const event = await eventOf(parts, tenant, params.id);
      return showEventDetail(event, await parts.outbox.deliveriesOf(tenant, [event.id]));
    },
  );
  api.get<OneEvent>("/events/:id/body", { schema: BODY }, async ({ params, query: { tenant } }, reply) => {
    const { id, body } = await eventOf(parts, tenant, params.id);
    return sendAttachment(reply, id, body);
  });
}

function registerPublish(api: FastifyInstance, { sender, settings }: ApiParts): void {
  api.post<{ Body: EventInput | readonly EventInput[] }>(
    "/events",
    { schema: PUBLISH, bodyLimit: settings.maxBodyBytes * PUBLISH_BODIES },
    async (request, reply) => {
      const idempotency = idempotencyOf(request.headers["idempotency-key"], tokenOf(request).id);
      const given = [request.body].flat() as readonly EventInput[];
      const published = await sender.publish(given.map((event, n) => publicationOf(event, n, idempotency)));
      return reply.code(202).send(Array.isArray(request.body) ? published : published[0]);
    },
  );
}

async function list({ outbox }: ApiParts, asked: EventFilter): Promise<Page<EventSummary>> {
  const { limit, after, ...filter } = asked;
  const { items, next } = await outbox.events(filter, { limit, after });
  return { items: items.map(showEvent), next: next ?? null };
}

async function eventOf({ outbox }: ApiParts, tenant: string, id: string): Promise<StoredEvent> {
  const event = await outbox.event(tenant, id);
  if (event === undefined) throw notFound("event", id);
  return event;
}

const PUBLISH = routeSchema({
  operationId: "publishEvents",
  summary: "Publishes one event, or up to 1,000 in one commit. The answer comes when they are durable.",
  tag,
  headers: {
    type: "object",
    properties: {
      "idempotency-key": {
        type: "string",
        description: "Makes a second publication under the same key a duplicate, where the event has no id.",
      },
    },
  },
  body: {
    oneOf: [
      { $ref: "EventInput#" },
      { type: "array", minItems: 1, maxItems: MOST_EVENTS, items: { $ref: "EventInput#" } },
    ],
  },
  answers: {
    202: {
      oneOf: [{ $ref: "PublishedEvent#" }, { type: "array", items: { $ref: "PublishedEvent#" } }],
    },
  },
});

const LIST = routeSchema({
  operationId: "listEvents",
  summary: "Published events, newest first.",
  tag,
  querystring: query({
    tenant: PLAIN_TEXT,
    source: PLAIN_TEXT,
    type: PLAIN_TEXT,
    key: PLAIN_TEXT,
    ...PAGE_QUERY,
  }),
  answers: { 200: pageSchema("EventSummary") },
});

const GET = routeSchema({
  operationId: "getEvent",
  summary: "One event with its deliveries.",
  tag,
  params: param("id"),
  querystring: query({ tenant: TENANT }),
  answers: { 200: { $ref: "EventDetail#" } },
});

const BODY = routeSchema({
  operationId: "getEventBody",
  summary: "The bytes that are sent.",
  tag,
  params: param("id"),
  querystring: query({ tenant: TENANT }),
  answers: { 200: BYTES },
});
