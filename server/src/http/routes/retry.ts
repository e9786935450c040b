import type { FastifyInstance } from "fastify";
import type { Retried } from "posthorn/client";
import { parseLaneId } from "posthorn/gateway";
import type { DeliverySummary } from "posthorn/operator";
import type { ApiParts } from "../api-parts.js";
import { notFound, problem, shown } from "../problem.js";
import { whole } from "../resources/text.js";
import { param, routeSchema } from "../route-schema.js";

interface ById {
  readonly Params: { readonly id: string };
}

/** …/retry: what has failed and waits for its next attempt is due now. */
export function registerRetry(api: FastifyInstance, parts: ApiParts): void {
  const { operator, outbox } = parts;
  api.post<ById>(
    "/endpoints/:id/retry",
    { schema: ENDPOINT },
    async ({ params: { id } }): Promise<Retried> => {
      if ((await outbox.readEndpoints([id])).length === 0) throw notFound("endpoint", id);
      return { retried: await operator.retry({ endpointId: id }) };
    },
  );
  api.post<ById>("/lanes/:id/retry", { schema: LANE }, async ({ params: { id } }): Promise<Retried> => {
    const laneId = parseLaneId(id);
    if (laneId === undefined || (await outbox.lane(laneId)) === undefined) {
      throw notFound("lane in which something waits, with the id", id);
    }
    return { retried: await operator.retry({ laneId }) };
  });
  api.post<ById>(
    "/deliveries/:id/retry",
    { schema: DELIVERY },
    async ({ params: { id } }): Promise<Retried> => {
      const retried = await operator.retry({ deliveryId: id });
      if (retried > 0) return { retried };
      const delivery = await outbox.delivery(id);
      if (delivery === undefined) throw notFound("delivery", id);
      if (isDue(delivery)) return { retried };
      throw problem(
        "conflict",
        `The delivery ${shown(id)} is ${delivery.state}. ${NOT_WAITING[delivery.state]}`,
      );
    },
  );
}

/** A dispatcher takes it at its next look. */
function isDue({ state, dueInMs }: DeliverySummary): boolean {
  return (state === "retrying" || state === "waiting") && dueInMs !== undefined;
}

const NOT_WAITING: Readonly<Record<DeliverySummary["state"], string>> = {
  waiting:
    "Others of its lane are before it, or its endpoint is stopped: retry the lane, or resume the endpoint.",
  under_way: "An attempt is under way.",
  // Due later a moment ago, or at an endpoint that is stopped.
  retrying: "Its endpoint is stopped: resume it.",
  delivered: "The endpoint has it.",
  dead: "Redrive it.",
  cancelled: "Publish the event again if it is still wanted.",
};

function retrySchema(operationId: string, tag: string, summary: string): object {
  return routeSchema({
    operationId,
    summary,
    tag,
    params: param("id"),
    answers: {
      200: whole<Retried>({
        retried: { type: "integer", description: "How many deliveries are due now that had waited." },
      }),
    },
  });
}

const ENDPOINT = retrySchema(
  "retryEndpoint",
  "endpoints",
  "Makes all that has failed at an endpoint due now, in the order of each lane; failures and retry budgets stay.",
);
const LANE = retrySchema(
  "retryLane",
  "lanes",
  "Makes the head of a lane due now, where it has failed and waits.",
);
const DELIVERY = retrySchema(
  "retryDelivery",
  "deliveries",
  "Makes a delivery due now that has failed and waits for its next attempt.",
);
