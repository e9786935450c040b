import type { FastifyInstance } from "fastify";
import type { Consumer, Page, Retried } from "posthorn/client";
import type { ApiParts } from "../api-parts.js";
import { pageSchema } from "../page.js";
import { notFound } from "../problem.js";
import { showConsumer } from "../resources/inbox.js";
import { whole } from "../resources/text.js";
import { param, routeSchema } from "../route-schema.js";

const tag = "consumers";

/** /consumers: handlers in the processes of hosts. */
export function registerConsumers(api: FastifyInstance, { outbox, operator, clock }: ApiParts): void {
  api.get("/consumers", { schema: LIST }, async (): Promise<Page<Consumer>> => {
    const found = await outbox.consumers();
    return { items: found.map((each) => showConsumer(each, clock.now())), next: null };
  });
  api.post<{ Params: { readonly id: string } }>(
    "/consumers/:id/retry",
    { schema: RETRY },
    async ({ params: { id } }): Promise<Retried> => {
      if ((await outbox.readHandlers([id])).length === 0) throw notFound("consumer", id);
      return { retried: await operator.retry({ endpointId: id }) };
    },
  );
}

const LIST = routeSchema({
  operationId: "listConsumers",
  summary: "Handlers that workers have registered, how much waits for each, and whether a worker is there.",
  tag,
  answers: { 200: pageSchema("Consumer") },
});

const RETRY = routeSchema({
  operationId: "retryConsumer",
  summary: "Makes all that has failed at a handler and waits for its next attempt due now.",
  tag,
  params: param("id"),
  answers: { 200: whole<Retried>({ retried: { type: "integer" } }) },
});
