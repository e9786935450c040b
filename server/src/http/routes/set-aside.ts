import type { FastifyInstance } from "fastify";
import type { Page, RedrivenEvent, SetAside } from "posthorn/client";
import type { SetAsideEvent } from "posthorn/operator";
import type { ApiParts } from "../api-parts.js";
import { PAGE_QUERY, pageSchema } from "../page.js";
import type { PageQuery } from "../page.js";
import { notFound } from "../problem.js";
import { BIG, INSTANT, MAYBE_TEXT, whole } from "../resources/text.js";
import { param, query, routeSchema } from "../route-schema.js";

const tag = "set-aside";

/** /set-aside: events that could not be given their places. */
export function registerSetAside(api: FastifyInstance, { outbox }: ApiParts): void {
  api.get<{ Querystring: PageQuery }>(
    "/set-aside",
    { schema: LIST },
    async ({ query: { limit, after } }): Promise<Page<SetAside>> => {
      const { items, next } = await outbox.setAside({ limit, after });
      return { items: items.map(showSetAside), next: next ?? null };
    },
  );
  api.post<{ Params: { id: string } }>(
    "/set-aside/:id/redrive",
    { schema: REDRIVE },
    async ({ params: { id } }): Promise<RedrivenEvent> => {
      const result = /^\d{1,19}$/.test(id) ? await outbox.redriveEvent(BigInt(id)) : "unknown";
      if (result === "unknown") throw notFound("event that was set aside", id);
      return { result };
    },
  );
}

export const SET_ASIDE: object = {
  $id: "SetAside",
  ...whole<SetAside>({
    id: BIG,
    tenant: { type: "string" },
    eventId: { ...MAYBE_TEXT, description: "Null where somebody has deleted the event." },
    type: MAYBE_TEXT,
    error: { type: "string", description: "Why it could not be given its places." },
    setAsideAt: INSTANT,
  }),
};

function showSetAside({ number, tenant, eventId, type, error, setAsideAt }: SetAsideEvent): SetAside {
  return {
    id: String(number),
    tenant,
    eventId: eventId ?? null,
    type: type ?? null,
    error,
    setAsideAt: setAsideAt.toISOString(),
  };
}

const LIST = routeSchema({
  operationId: "listSetAside",
  summary: "Events that could not be given their places in lanes, newest first, until they are redriven.",
  tag,
  querystring: query(PAGE_QUERY),
  answers: { 200: pageSchema("SetAside") },
});

const REDRIVE = routeSchema({
  operationId: "redriveSetAside",
  summary: "Lets an event that was set aside have its places after all, at the ends of its lanes.",
  tag,
  params: param("id"),
  answers: { 200: whole<RedrivenEvent>({ result: { type: "string", enum: ["staged", "event_missing"] } }) },
});
