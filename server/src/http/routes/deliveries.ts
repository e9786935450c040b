import type { FastifyInstance } from "fastify";
import type { Attempt, Delivery, Page, Redriven } from "posthorn/client";
import { isHandlerId } from "posthorn/gateway";
import type { DeliverySummary } from "posthorn/operator";
import type { ApiParts } from "../api-parts.js";
import { pageSchema } from "../page.js";
import { notFound, problem, shown } from "../problem.js";
import { showAttempt, showDelivery } from "../resources/delivery.js";
import { whole } from "../resources/text.js";
import { param, PLAIN_TEXT, query, routeSchema } from "../route-schema.js";
import { TENANT, tenantOf } from "./events.js";

const tag = "deliveries";

interface ById {
  readonly Params: { readonly id: string };
}

/** /deliveries: what became of events; redrive. */
export function registerDeliveries(api: FastifyInstance, parts: ApiParts): void {
  api.get<{ Querystring: { event?: string; tenant?: string; endpoint?: string; state?: string } }>(
    "/deliveries",
    { schema: LIST },
    async ({ query: { event, tenant, endpoint, state } }) => {
      const other = endpoint !== undefined ? "endpoint" : state !== undefined ? "state" : undefined;
      if (other !== undefined || event === undefined) throw onlyByEvent(other ?? "event");
      return deliveriesOf(parts, tenant, event);
    },
  );
  api.get<ById>("/deliveries/:id", { schema: GET }, async ({ params }) =>
    showDelivery(await deliveryOf(parts, params.id)),
  );
  api.get<ById>(
    "/deliveries/:id/attempts",
    { schema: ATTEMPTS },
    async ({ params }): Promise<Page<Attempt>> => {
      const { id } = await deliveryOf(parts, params.id);
      return { items: (await parts.operator.attempts(id)).map(showAttempt), next: null };
    },
  );
  api.post<ById>("/deliveries/:id/redrive", { schema: REDRIVE }, async ({ params }) =>
    redrive(parts, params.id),
  );
}

function onlyByEvent(field: string): Error {
  return problem(
    "request_invalid",
    "Deliveries are listed by `event`: most are finished, and no index has those of an endpoint or a state. /dead lists what was given up, by endpoint and reason; /lanes and /lanes/{id}/waiting list what waits.",
    { field },
  );
}

async function deliveriesOf(
  parts: ApiParts,
  named: string | undefined,
  event: string,
): Promise<Page<Delivery>> {
  const { outbox } = parts;
  const tenant = await tenantOf(parts, named, event);
  const found = await outbox.deliveriesOf(tenant, [event]);
  // An event without deliveries is fine (nobody takes it, or it is not sequenced yet); an unknown event is a 404.
  if (found.length === 0 && (await outbox.event(tenant, event)) === undefined) throw notFound("event", event);
  return { items: found.map(showDelivery), next: null };
}

async function deliveryOf({ outbox }: ApiParts, id: string): Promise<DeliverySummary> {
  const found = await outbox.delivery(id);
  if (found === undefined) throw notFound("delivery", id);
  return found;
}

async function redrive(parts: ApiParts, id: string): Promise<Redriven> {
  const result = await parts.operator.redrive(id);
  if (result !== "unknown") return { result };
  const delivery = await deliveryOf(parts, id);
  const { state, endpointId } = delivery;
  const isHandlers = isHandlerId(endpointId);
  const which = isHandlers ? "one that is dead or was passed over" : "a dead one";
  if (state === "dead" || (isHandlers && state === "cancelled"))
    throw problem(
      "conflict",
      `The delivery ${shown(id)} is ${state}, and was not redriven. ${await notAgain(parts, delivery)}`,
    );
  throw problem(
    "conflict",
    `The delivery ${shown(id)} is ${state}; only ${which} is redriven. ${NOT_DEAD[state]}`,
  );
}

/** Why one that looks as if it could be redriven was not. */
async function notAgain(
  { outbox }: ApiParts,
  { id, round, tenant, eventId, endpointId }: DeliverySummary,
): Promise<string> {
  const end = (await outbox.ends(id)).findLast((each) => each.round === round);
  if (end?.resolvedHow === "redriven" || end?.because === "redriven")
    return "It was redriven before, and has another place by now.";
  if (end?.resolvedHow === "cancelled" && !isHandlerId(endpointId))
    return `It was cancelled with what waited in its lane, or its endpoint was removed. ${NOT_DEAD.cancelled}`;
  if ((await outbox.event(tenant, eventId)) === undefined) return "Its event is not stored any more.";
  return "It has changed between two looks. Try again.";
}

const NOT_DEAD: Readonly<Record<Exclude<DeliverySummary["state"], "dead">, string>> = {
  waiting: "It is sent when its turn comes.",
  under_way: "An attempt is under way.",
  retrying: "It is tried again by itself; `posthorn retry` tries it now.",
  delivered: "The endpoint has it.",
  cancelled: "Publish the event again if it is still wanted.",
};

const LIST = routeSchema({
  operationId: "listDeliveries",
  summary: "Every delivery of one event.",
  tag,
  querystring: query({
    event: PLAIN_TEXT,
    tenant: TENANT,
    endpoint: { ...PLAIN_TEXT, description: "Refused, with the reason." },
    state: { ...PLAIN_TEXT, description: "Refused, with the reason." },
  }),
  answers: { 200: pageSchema("Delivery") },
});

const GET = routeSchema({
  operationId: "getDelivery",
  summary: "One delivery, and how it stands.",
  tag,
  params: param("id"),
  answers: { 200: { $ref: "Delivery#" } },
});

const ATTEMPTS = routeSchema({
  operationId: "listAttempts",
  summary: "Every attempt of a delivery, in order.",
  tag,
  params: param("id"),
  answers: { 200: pageSchema("Attempt") },
});

const REDRIVE = routeSchema({
  operationId: "redriveDelivery",
  summary:
    "Makes a dead delivery due again, in its old place where its lane has waited for it; at a handler also one that was skipped.",
  tag,
  params: param("id"),
  answers: { 200: whole<Redriven>({ result: { type: "string", enum: ["in_place", "at_end"] } }) },
});
