import type { FastifyInstance } from "fastify";
import type { HeldEvent, HeldReleased, Page } from "posthorn/client";
import type { ApiParts } from "../api-parts.js";
import { PAGE_QUERY, pageSchema } from "../page.js";
import type { PageQuery } from "../page.js";
import { notFound } from "../problem.js";
import { HELD_RELEASED, showGap, showHeld } from "../resources/held.js";
import { param, PLAIN_TEXT, query, routeSchema } from "../route-schema.js";

const tag = "inbox";
const DEFAULT_TENANT = "default";

interface ListQuery extends PageQuery {
  readonly tenant?: string;
  readonly source?: string;
  readonly key?: string;
}

interface Release {
  readonly Params: { readonly id: string };
  readonly Body: { readonly tenant?: string };
}

/** /held: events that wait for others of their key. */
export function registerHeld(api: FastifyInstance, { outbox, clock }: ApiParts): void {
  api.get<{ Querystring: ListQuery }>(
    "/held",
    { schema: LIST },
    async ({ query: { limit, after, ...filter } }): Promise<Page<HeldEvent>> => {
      const { items, next } = await outbox.heldEvents(filter, { limit, after });
      return { items: items.map((each) => showHeld(each, clock.now())), next: next ?? null };
    },
  );
  api.post<Release>(
    "/held/:id/release",
    { schema: RELEASE, preValidation: bodyOptional },
    async ({ params: { id }, body: { tenant = DEFAULT_TENANT } }): Promise<HeldReleased> => {
      const released = await outbox.releaseHeld(tenant, id);
      if (released.kind === "unknown") throw notFound("event that is held", id);
      return { id, events: released.events, gaps: released.gaps.map(showGap) };
    },
  );
}

function bodyOptional(request: { body?: unknown }, _reply: unknown, done: () => void): void {
  request.body ??= {};
  done();
}

const LIST = routeSchema({
  operationId: "listHeld",
  summary:
    "Events that are held because others of their key are missing before them, by tenant, source, key and sequence.",
  tag,
  querystring: query({ tenant: PLAIN_TEXT, source: PLAIN_TEXT, key: PLAIN_TEXT, ...PAGE_QUERY }),
  answers: { 200: pageSchema("HeldEvent") },
});

const RELEASE = routeSchema({
  operationId: "releaseHeld",
  summary:
    "Gives up what a held event waits for: it goes on now, after those that are held before it; what comes later is late.",
  tag,
  params: param("id"),
  body: { type: "object", additionalProperties: false, properties: { tenant: PLAIN_TEXT } },
  answers: { 200: HELD_RELEASED },
});
