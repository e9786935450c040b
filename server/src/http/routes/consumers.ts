import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Consumer, Page, RemovedConsumer, Retried } from "posthorn/client";
import { LONGEST_PAUSE_MS } from "posthorn/operator";
import type { ApiParts } from "../api-parts.js";
import { actorOf, noteOf } from "../audit.js";
import { readConsumer } from "../read-consumer.js";
import { pageSchema } from "../page.js";
import { notFound, problem, shown } from "../problem.js";
import { showConsumer } from "../resources/inbox.js";
import { whole } from "../resources/text.js";
import { param, routeSchema } from "../route-schema.js";

const tag = "consumers";

/** /consumers: handlers in the processes of hosts. */
export function registerConsumers(api: FastifyInstance, parts: ApiParts): void {
  const { outbox, operator, clock } = parts;
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
  api.post<ById & { Body: { readonly forMs?: number } }>(
    "/consumers/:id/pause",
    { schema: PAUSE, preValidation: bodyOptional },
    (request) => pause(parts, request),
  );
  api.post<ById>(
    "/consumers/:id/resume",
    { schema: RESUME, preValidation: bodyOptional },
    async ({ params: { id } }): Promise<Consumer> => {
      if ((await operator.resume(id)) === "unknown") throw notFound("consumer", id);
      return readConsumer(parts, id);
    },
  );
  api.delete<Removal>("/consumers/:id", { schema: REMOVE, preValidation: bodyOptional }, (request) =>
    remove(parts, request),
  );
}

type Removal = ById & { readonly Body: { readonly cancelWaiting?: boolean } };

async function remove({ operator }: ApiParts, request: FastifyRequest<Removal>): Promise<RemovedConsumer> {
  const { id } = request.params;
  const because = noteOf(request) ?? NO_REASON;
  const { cancelWaiting } = request.body;
  const removed = await operator.remove(id, { because, by: actorOf(request).name, cancelWaiting });
  if (removed.kind === "unknown") throw notFound("consumer", id);
  return { id, waiting: removed.waiting, exact: removed.exact };
}

const NO_REASON = "no reason was given";

interface ById {
  readonly Params: { readonly id: string };
}

function bodyOptional(request: { body?: unknown }, _reply: unknown, done: () => void): void {
  request.body ??= {};
  done();
}

async function pause(
  parts: ApiParts,
  request: FastifyRequest<ById & { Body: { readonly forMs?: number } }>,
): Promise<Consumer> {
  const { params, body } = request;
  const by = actorOf(request).name;
  const because = noteOf(request) ?? NO_REASON;
  const paused = await parts.operator.pause(params.id, { forMs: body.forMs, because, by });
  if (paused === "unknown") throw notFound("consumer", params.id);
  const consumer = await readConsumer(parts, params.id);
  if (paused === "paused") return consumer;
  const until = consumer.pausedUntil === null ? "until somebody resumes it" : `until ${consumer.pausedUntil}`;
  throw problem(
    "conflict",
    `The consumer ${shown(params.id)} is ${consumer.state} ${until} already: ${consumer.because ?? "the reason is not known"}. Resume it first to pause it for less.`,
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

const PAUSE = routeSchema({
  operationId: "pauseConsumer",
  summary: "Lets everything wait at a handler, in order, for a time or until it is resumed; `note` says why.",
  tag,
  params: param("id"),
  body: {
    type: "object",
    additionalProperties: false,
    properties: {
      forMs: {
        type: "integer",
        minimum: 1,
        maximum: LONGEST_PAUSE_MS,
        description: "After so long it ends by itself. Left out: when somebody resumes the handler.",
      },
    },
  },
  answers: { 200: { $ref: "Consumer#" } },
});

const RESUME = routeSchema({
  operationId: "resumeConsumer",
  summary: "Ends the pause of a handler, whether a person or a rule for errors has paused it.",
  tag,
  params: param("id"),
  body: { type: "object", additionalProperties: false, properties: {} },
  answers: { 200: { $ref: "Consumer#" } },
});

const REMOVE = routeSchema({
  operationId: "removeConsumer",
  summary:
    "Removes a handler that no worker has any more. Refused while a worker has it, or had it within three minutes, and while deliveries wait for it or dead letters of it are unresolved; `note` says why.",
  tag,
  params: param("id"),
  body: {
    type: "object",
    additionalProperties: false,
    properties: {
      cancelWaiting: {
        type: "boolean",
        description: "True: what waits for it is cancelled, and its dead letters are resolved.",
      },
    },
  },
  answers: {
    200: whole<RemovedConsumer>({
      id: { type: "string" },
      waiting: {
        type: "integer",
        description:
          "Deliveries in its lanes, the dead heads included; they are cancelled, a step at a time.",
      },
      exact: { type: "boolean", description: "False where more waited than was counted." },
    }),
  },
});
