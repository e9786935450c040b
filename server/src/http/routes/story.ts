import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { Endpoint } from "posthorn";
import type { Found, Repeat, Story, StoryDelivery } from "posthorn/client";
import type { DeliverySummary, RepeatRecord } from "posthorn/operator";
import { explainDelivery } from "../../commands/deliveries/explain-delivery.js";
import type { ApiParts } from "../api-parts.js";
import { deedsOf } from "../deeds.js";
import { findEvents, search } from "../find-event.js";
import { notFound } from "../problem.js";
import { showAttempt, showDelivery } from "../resources/delivery.js";
import { showHeld } from "../resources/held.js";
import { showEventDetail } from "../resources/event.js";
import { base64, instant, whole } from "../resources/text.js";
import { param, query, routeSchema } from "../route-schema.js";
import { stepsOf } from "../story.js";
import { severalTenants, TENANT } from "./events.js";

interface OneStory {
  readonly Params: { readonly id: string };
  readonly Querystring: { readonly tenant?: string };
}

/** /story and /search: everything of one event, and what an id leads to. */
export function registerStory(api: FastifyInstance, parts: ApiParts): void {
  api.get<OneStory>("/story/:id", { schema: STORY }, async ({ params, query: { tenant } }) =>
    storyOf(parts, tenant, params.id),
  );
  api.get<{ Querystring: { q: string; tenant?: string } }>(
    "/search",
    { schema: SEARCH },
    async ({ query: { q, tenant } }) => ({ items: await search(parts, tenant, q) }),
  );
}

async function storyOf(parts: ApiParts, tenant: string | undefined, id: string): Promise<Story> {
  const all = await findEvents(parts, tenant, id);
  const [found] = all;
  if (found === undefined) throw notFound("event, delivery or provider's id", id);
  if (all.length > 1)
    throw severalTenants(
      id,
      all.map(({ event }) => event.tenant),
    );
  const { event, foundBy } = found;
  const { outbox, clock } = parts;
  const summaries = await outbox.deliveriesOf(event.tenant, [event.id]);
  const ids = [...new Set(summaries.map(({ endpointId }) => endpointId))];
  const [read, handlers] = await Promise.all([
    outbox.readEndpoints(ids),
    ids.length === 0 ? [] : outbox.readHandlers(ids),
  ]);
  const endpoints: EndpointsById = new Map([...read, ...handlers].map((each) => [each.id, each]));
  const [deliveries, repeated, record] = await Promise.all([
    Promise.all(summaries.map((summary) => storyDelivery(parts, summary, endpoints))),
    outbox.repeats(event.tenant, event.id),
    outbox.heldEvent(event.tenant, event.id),
  ]);
  const held = record && showHeld(record, clock.now());
  const deeds = await deedsOf(parts, { eventId: event.id, since: event.writtenAt, deliveries });
  const repeats = repeated.map((repeat) => showRepeat(repeat, event.bodyBytes));
  return {
    foundBy,
    event: showEventDetail(event, summaries),
    bodySha256: createHash("sha256").update(event.body).digest("hex"),
    repeats,
    deliveries,
    held: held ?? null,
    steps: stepsOf({ event, repeats, deliveries, held, deeds, endpoints, nowMs: clock.now() }),
  };
}

type EndpointsById = ReadonlyMap<string, Pick<Endpoint, "state" | "because">>;

async function storyDelivery(
  { outbox }: ApiParts,
  summary: DeliverySummary,
  endpoints: EndpointsById,
): Promise<StoryDelivery> {
  const [attempts, ends] = await Promise.all([outbox.attempts(summary.id), outbox.ends(summary.id)]);
  const delivery = showDelivery(summary);
  const endpoint = endpoints.get(summary.endpointId);
  return {
    ...delivery,
    tried: attempts.map((attempt) => showAttempt(attempt)),
    ends: ends.map(({ round, how, because, at, resolvedAt, resolvedHow }) => ({
      round,
      how,
      because,
      at: at.toISOString(),
      resolvedAt: instant(resolvedAt),
      resolvedHow: resolvedHow ?? null,
    })),
    sentence: explainDelivery(delivery, {
      endpoint: endpoint && { state: endpoint.state, because: endpoint.because ?? null },
    }).says,
  };
}

function showRepeat(repeat: RepeatRecord, ownBytes: number): Repeat {
  const { kind, receipts, firstAt, lastAt, headers, bodyHash, body } = repeat;
  return {
    kind,
    receipts,
    firstAt: firstAt.toISOString(),
    lastAt: lastAt.toISOString(),
    headers,
    bodyBytes: body?.length ?? ownBytes,
    bodySha256: Buffer.from(bodyHash).toString("hex"),
    body: base64(body),
  };
}

const STORY = routeSchema({
  operationId: "getStory",
  summary:
    "Everything that is known of one event, found by its id, by the `webhook-id` that endpoints got, by a delivery's id or by the provider's id.",
  tag: "status",
  params: param("id"),
  querystring: query({ tenant: TENANT }),
  answers: { 200: { $ref: "Story#" } },
});

const SEARCH = routeSchema({
  operationId: "search",
  summary: "What a pasted id, header line or curl leads to.",
  tag: "status",
  querystring: query({ q: { type: "string", minLength: 1, maxLength: 4000 }, tenant: TENANT }, ["q"]),
  answers: {
    200: whole<{ items: readonly Found[] }>({ items: { type: "array", items: { $ref: "Found#" } } }),
  },
});
