import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { generateSecret } from "posthorn";
import type { Endpoint as EndpointRecord, EndpointOptions, EndpointView } from "posthorn";
import type {
  CreatedEndpoint,
  Endpoint,
  EndpointInput,
  EndpointUpdate,
  Page,
  TestInput,
  TestSend,
} from "posthorn/client";
import { flagWords } from "../../egress.js";
import type { ApiParts } from "../api-parts.js";
import { cutPage, PAGE_QUERY, pageSchema } from "../page.js";
import type { PageQuery } from "../page.js";
import { notFound, problem } from "../problem.js";
import { showEndpoint } from "../resources/endpoint.js";
import { NOTHING, param, PLAIN_TEXT, query, routeSchema } from "../route-schema.js";
import { sendTest } from "../test-send.js";

const tag = "endpoints";

interface ById {
  readonly Params: { readonly id: string };
}

interface ListQuery extends PageQuery {
  readonly tenant?: string;
}

/** /endpoints: where events go. */
export function registerEndpoints(api: FastifyInstance, parts: ApiParts): void {
  const { endpoints } = parts.sender;
  api.get<{ Querystring: ListQuery }>("/endpoints", { schema: LIST }, async ({ query: asked }) =>
    list(parts, asked),
  );
  api.post<{ Body: EndpointInput }>("/endpoints", { schema: CREATE }, async ({ body }, reply) =>
    reply.code(201).send(await create(parts, body)),
  );
  api.get<ById>("/endpoints/:id", { schema: GET }, async ({ params }) =>
    showEndpoint(await read(parts, params.id)),
  );
  api.patch<ById & { Body: EndpointUpdate }>("/endpoints/:id", { schema: UPDATE }, async ({ params, body }) =>
    update(parts, params.id, body),
  );
  api.delete<ById>("/endpoints/:id", { schema: REMOVE }, async ({ params }, reply) => {
    await endpoints.remove(params.id);
    return reply.code(204).send();
  });
  api.post<ById>("/endpoints/:id/pause", { schema: PAUSE }, async ({ params }) =>
    showEndpoint(await endpoints.pause(params.id)),
  );
  api.post<ById>("/endpoints/:id/resume", { schema: RESUME }, async ({ params }) =>
    showEndpoint(await endpoints.resume(params.id)),
  );
  api.post<ById & { Body: TestInput }>(
    "/endpoints/:id/test",
    { schema: TEST, preValidation: bodyOptional },
    async ({ params, body }): Promise<TestSend> => sendTest(parts, await readWhole(parts, params.id), body),
  );
}

/** `curl -X POST` without a body sends the default test event. */
function bodyOptional(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  request.body ??= {};
  done();
}

async function list({ sender }: ApiParts, { tenant, after, limit }: ListQuery): Promise<Page<Endpoint>> {
  const found = await sender.endpoints.list({
    ...(tenant !== undefined && { tenant }),
    ...(after !== undefined && { after }),
    limit: limit + 1,
  });
  return cutPage(found, limit, { show: showEndpoint, nameOf: ({ id }) => id });
}

async function read({ sender }: ApiParts, id: string): Promise<EndpointView> {
  const found = await sender.endpoints.get(id);
  if (found === undefined) throw notFound("endpoint", id);
  return found;
}

/** With its secrets, which sign the test. */
async function readWhole({ outbox }: ApiParts, id: string): Promise<EndpointRecord> {
  const [found] = await outbox.readEndpoints([id]);
  if (found === undefined) throw notFound("endpoint", id);
  return found;
}

async function create(parts: ApiParts, input: EndpointInput): Promise<CreatedEndpoint> {
  const { secrets, dead, ...rest } = input;
  judge(parts, input.url);
  if (input.id !== undefined && (await parts.sender.endpoints.get(input.id)) !== undefined) {
    throw problem("conflict", `There is an endpoint ${input.id} already. Change it, or choose another id.`);
  }
  const secret = secrets === undefined ? generateSecret() : undefined;
  const made = await parts.sender.endpoints.create({
    ...(rest as Omit<EndpointOptions, "secrets">),
    ...(dead !== undefined && dead !== null && { dead }),
    secrets: secrets ?? [secret as string],
  });
  return { ...showEndpoint(made), ...(secret !== undefined && { secret }) };
}

async function update(parts: ApiParts, id: string, change: EndpointUpdate): Promise<Endpoint> {
  if (change.url !== undefined) judge(parts, change.url);
  // In one call: by two, others would see half of the change, and a failure between them would leave it so.
  return showEndpoint(await parts.sender.endpoints.update(id, change));
}

/** Refuses an address here, where a person sees it, that the egress would refuse at every attempt. */
function judge({ guard }: ApiParts, url: string): void {
  const verdict = guard.judgeUrl(url);
  if (verdict.kind === "allowed") return;
  throw problem("request_invalid", `The endpoint cannot be used: ${flagWords(verdict.message)}`, {
    field: "url",
  });
}

const LIST = routeSchema({
  operationId: "listEndpoints",
  summary: "Endpoints, in the order of their ids.",
  tag,
  querystring: query({ tenant: PLAIN_TEXT, ...PAGE_QUERY }),
  answers: { 200: pageSchema("Endpoint") },
});

const CREATE = routeSchema({
  operationId: "createEndpoint",
  summary: "Adds an endpoint: it gets what is published from now on.",
  tag,
  body: { $ref: "EndpointInput#" },
  answers: { 201: { $ref: "CreatedEndpoint#" } },
});

const GET = routeSchema({
  operationId: "getEndpoint",
  summary: "One endpoint.",
  tag,
  params: param("id"),
  answers: { 200: { $ref: "Endpoint#" } },
});

const UPDATE = routeSchema({
  operationId: "updateEndpoint",
  summary: "Changes an endpoint; the next attempt of everything that waits uses the new values.",
  tag,
  params: param("id"),
  body: { $ref: "EndpointUpdate#" },
  answers: { 200: { $ref: "Endpoint#" } },
});

const REMOVE = routeSchema({
  operationId: "removeEndpoint",
  summary: "Removes an endpoint; what waits for it is cancelled.",
  tag,
  params: param("id"),
  answers: { 204: NOTHING },
});

const PAUSE = routeSchema({
  operationId: "pauseEndpoint",
  summary: "Lets everything wait, in order, until it is resumed.",
  tag,
  params: param("id"),
  answers: { 200: { $ref: "Endpoint#" } },
});

const RESUME = routeSchema({
  operationId: "resumeEndpoint",
  summary: "Ends a pause, or enables an endpoint that was disabled.",
  tag,
  params: param("id"),
  answers: { 200: { $ref: "Endpoint#" } },
});

const TEST = routeSchema({
  operationId: "testEndpoint",
  summary: "Sends a signed event that is not stored, and tells what came of it.",
  tag,
  params: param("id"),
  body: {
    type: "object",
    additionalProperties: false,
    properties: { type: PLAIN_TEXT, data: { description: "Any JSON." } },
  },
  answers: { 200: { $ref: "TestSend#" } },
});
