import type { FastifyInstance, FastifyRequest } from "fastify";
import type { PosthornError } from "posthorn";
import type { EventDetail, EventInput, EventSummary, Page } from "posthorn/client";
import type { StoredEvent } from "posthorn/operator";
import type { ApiParts } from "../api-parts.js";
import { tokenOf } from "../auth/token-check.js";
import { PAGE_QUERY, pageSchema } from "../page.js";
import type { PageQuery } from "../page.js";
import { notFound, problem, shown } from "../problem.js";
import { readPublications } from "../exact-data.js";
import { idempotencyOf, publicationOf } from "../publication.js";
import { showEvent, showEventDetail } from "../resources/event.js";
import { BYTES, param, PLAIN_TEXT, query, routeSchema } from "../route-schema.js";
import { sendAttachment } from "../strict-headers.js";
import { SINCE, timeRange } from "../time-range.js";

const tag = "events";

/** Event ids are unique within a tenant only. */
export const TENANT = {
  ...PLAIN_TEXT,
  description: "Whose event it is; left out, it is looked for at all tenants.",
} as const;

interface OneEvent {
  readonly Params: { readonly id: string };
  readonly Querystring: { readonly tenant?: string };
}

interface EventFilter extends PageQuery {
  readonly tenant?: string;
  readonly source?: string;
  readonly type?: string;
  readonly key?: string;
  readonly since?: string;
  readonly until?: string;
  readonly id?: string;
  readonly state?: string;
}

// A batch holds many bodies, and base64 adds a third; the sender has a token.
const PUBLISH_BODIES = 4;
export const MOST_EVENTS = 1000;
const SHOWN_TENANTS = 10;
// What the sender names an event by that says no source.
const DEFAULT_SOURCE = "app";

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
      return showEventDetail(event, await parts.outbox.deliveriesOf(event.tenant, [event.id]));
    },
  );
  api.get<OneEvent>("/events/:id/body", { schema: BODY }, async ({ params, query: { tenant } }, reply) => {
    const { id, body } = await eventOf(parts, tenant, params.id);
    return sendAttachment(reply, id, body);
  });
}

function registerPublish(scope: FastifyInstance, parts: ApiParts): void {
  // A scope of its own: every other route takes its JSON as the framework parses it.
  scope.register((api, _options, done) => {
    keepData(api);
    registerPublishRoute(api, parts);
    done();
  });
}

/** Reads bodies with the framework's parser, and keeps the bytes of `data`. */
function keepData(api: FastifyInstance): void {
  const parse = api.getDefaultJsonParser("error", "error");
  api.removeContentTypeParser("application/json");
  api.addContentTypeParser<Buffer>(
    "application/json",
    { parseAs: "buffer" },
    (request: FastifyRequest, body: Buffer, done) => {
      const parsed = readPublications(body, (json) => {
        let value: unknown;
        void parse(request, json, (error, read: unknown) => {
          if (error instanceof Error) throw error;
          value = read;
        });
        return value;
      });
      done(null, parsed);
    },
  );
}

function registerPublishRoute(api: FastifyInstance, { sender, settings, activity }: ApiParts): void {
  api.post<{ Body: EventInput | readonly EventInput[] }>(
    "/events",
    { schema: PUBLISH, bodyLimit: settings.maxBodyBytes * PUBLISH_BODIES },
    async (request, reply) => {
      const idempotency = idempotencyOf(request.headers["idempotency-key"], tokenOf(request).id);
      const given = [request.body].flat() as readonly EventInput[];
      const published = await sender.publish(given.map((event, n) => publicationOf(event, n, idempotency)));
      published.forEach(({ id, duplicate }, n) => {
        const { source = DEFAULT_SOURCE, type = "" } = given[n] ?? {};
        if (!duplicate) activity.published({ source, type, eventId: id });
      });
      return reply.code(202).send(Array.isArray(request.body) ? published : published[0]);
    },
  );
}

async function list(parts: ApiParts, asked: EventFilter): Promise<Page<EventSummary>> {
  const { limit, after, since, until, id, state, ...filter } = asked;
  if (state !== undefined) {
    throw problem(
      "request_invalid",
      "Events are not found by `state`: an event has one at each endpoint, and no index has them. /dead lists what was given up, /lanes what waits, and /deliveries those of one event.",
      { field: "state" },
    );
  }
  if (id !== undefined) return listByPrefix(parts, asked, id);
  for (const field of ["source", "type"] as const) {
    // As a pattern it would find nothing, without a word.
    if (filter[field]?.includes("*") !== true) continue;
    throw problem(
      "request_invalid",
      `\`${field}\` is ${shown(filter[field])}, and is compared as a whole: only endpoints have patterns. Name one, or leave it out.`,
      { field },
    );
  }
  const range = timeRange(
    { ...(since !== undefined && { since }), ...(until !== undefined && { until }) },
    parts.clock.now(),
  );
  const { items, next } = await parts.outbox.events({ ...filter, ...range }, { limit, after });
  return { items: items.map(showEvent), next: next ?? null };
}

// Each is read on its own.
const MOST_PREFIXED = 50;

/** Events whose ids begin with a text; generated ids begin with their time, so that the newest come first. */
async function listByPrefix(
  { outbox }: ApiParts,
  asked: EventFilter,
  id: string,
): Promise<Page<EventSummary>> {
  const other = Object.keys(asked).find((name) => !["id", "tenant", "limit"].includes(name));
  if (other !== undefined) {
    throw problem(
      "request_invalid",
      `\`id\` finds ids by their beginning, in the index of ids, which has no \`${other}\`: leave one of them out.`,
      { field: other },
    );
  }
  const { tenant = "default", limit } = asked;
  const ids = await outbox.eventIds(tenant, id, Math.min(limit, MOST_PREFIXED));
  const found = await Promise.all(ids.map((each) => outbox.event(tenant, each)));
  return { items: found.flatMap((event) => (event === undefined ? [] : [showEvent(event)])), next: null };
}

/** The tenant that is named, or the only one that has an event of this id. */
export async function tenantOf(
  { outbox }: ApiParts,
  tenant: string | undefined,
  eventId: string,
): Promise<string> {
  if (tenant !== undefined) return tenant;
  const tenants = await outbox.tenantsOf(eventId);
  const [only] = tenants;
  if (only === undefined) throw notFound("event", eventId);
  if (tenants.length === 1) return only;
  throw severalTenants(eventId, tenants);
}

/** An id that means several events: whose is meant has to be said. */
export function severalTenants(eventId: string, tenants: readonly string[]): PosthornError {
  const some = tenants.slice(0, SHOWN_TENANTS).map((each) => shown(each));
  return problem(
    "request_invalid",
    `${tenants.length} tenants have an event ${shown(eventId)}: ${some.join(", ")}${tenants.length > SHOWN_TENANTS ? ", …" : ""}. Name one of them as \`tenant\`.`,
    { field: "tenant" },
  );
}

async function eventOf(parts: ApiParts, named: string | undefined, id: string): Promise<StoredEvent> {
  const tenant = await tenantOf(parts, named, id);
  const event = await parts.outbox.event(tenant, id);
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
    since: { ...SINCE, description: `Stored at this time or later. ${SINCE.description}` },
    until: SINCE,
    id: { ...PLAIN_TEXT, description: "Ids that begin with this; only together with `tenant`." },
    state: { ...PLAIN_TEXT, description: "Refused, with the reason." },
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
