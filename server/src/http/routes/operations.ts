import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type {
  Operation,
  OperationFilter,
  OperationInput,
  OperationItem,
  OperationRun,
  Page,
} from "posthorn/client";
import { newId } from "posthorn/gateway";
import { fixedQuery } from "../../operations/dead-query.js";
import { fixedReplay } from "../../operations/replay-plan.js";
import { whyChanged } from "../../operations/plan.js";
import { makePlan } from "../../operations/planner.js";
import type { OperationRecord } from "../../store/operation.js";
import type { ApiParts } from "../api-parts.js";
import { actorOf, noteOf } from "../audit.js";
import { cutPage, PAGE_QUERY, pageSchema } from "../page.js";
import type { PageQuery } from "../page.js";
import { notFound, problem } from "../problem.js";
import { RATE, showOperation } from "../resources/operation.js";
import { param, PLAIN_TEXT, query, routeSchema } from "../route-schema.js";

const tag = "operations";
const DEFAULT_RATE = 100;

interface ById {
  readonly Params: { readonly id: string };
}

interface ListQuery extends PageQuery {
  readonly state?: string;
  readonly verb?: string;
}

/** /operations: what is done to many deliveries at once. */
export function registerOperations(api: FastifyInstance, parts: ApiParts): void {
  const { operations } = parts.registry;
  api.post<{ Body: OperationInput }>("/operations", { schema: CREATE }, async (request, reply) => {
    const planned = await plan(parts, request, request.body);
    if (request.body.dryRun === true) return reply.code(200).send(showOperation(planned));
    return reply.code(201).send(await run(parts, request, { id: planned.id, ...rated(request.body) }));
  });
  api.get<{ Querystring: ListQuery }>(
    "/operations",
    { schema: LIST },
    async ({ query: { limit, ...asked } }) => {
      const found = await operations.listOperations({ ...asked, limit: limit + 1 });
      return cutPage(found, limit, { show: showOperation, nameOf: ({ id }) => id });
    },
  );
  api.get<ById>("/operations/:id", { schema: GET }, async ({ params }) =>
    showOperation(await read(parts, params.id)),
  );
  api.patch<ById & { Body: { rate: number } }>(
    "/operations/:id",
    { schema: CHANGE },
    async ({ params, body }) => {
      if (!(await operations.changeRate(params.id, body.rate))) throw await ended(parts, params.id);
      return showOperation(await read(parts, params.id));
    },
  );
  api.post<ById & { Body: OperationRun }>(
    "/operations/:id/run",
    { schema: RUN, preValidation: bodyOptional },
    (request) => runPlanned(parts, request, request.params.id, request.body),
  );
  api.post<ById>("/operations/:id/stop", { schema: STOP }, (request) =>
    stop(parts, request, request.params.id),
  );
  registerItems(api, parts);
}

function registerItems(api: FastifyInstance, parts: ApiParts): void {
  api.get<ById & { Querystring: PageQuery & { result?: string } }>(
    "/operations/:id/items",
    { schema: ITEMS },
    async ({ params, query: { limit, after = "0", result } }): Promise<Page<OperationItem>> => {
      if (!/^\d{1,9}$/.test(after)) {
        throw problem("request_invalid", "`after` is not where a page of items ended.", { field: "after" });
      }
      const { id } = await read(parts, params.id);
      const page = { result, after: Number(after), limit: limit + 1 };
      const found = await parts.registry.operations.listItems(id, page);
      return cutPage(found, limit, { show: (item) => item, nameOf: ({ number }) => String(number) });
    },
  );
}

/** `curl -X POST` without a body runs the plan as it is. */
function bodyOptional(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  request.body ??= {};
  done();
}

function rated({ rate = DEFAULT_RATE }: OperationRun): { readonly rate: number } {
  return { rate };
}

/** With instants in place of ages: a plan means what it meant when it was made. */
function fixedFilter(filter: OperationFilter, nowMs: number): OperationFilter {
  const { dead, inbox } = filter;
  return {
    ...filter,
    ...(dead !== undefined && { dead: fixedQuery(dead, nowMs) }),
    ...(inbox !== undefined && { inbox: fixedReplay(inbox, nowMs) }),
  };
}

async function plan(
  parts: ApiParts,
  request: FastifyRequest,
  input: OperationInput,
): Promise<OperationRecord> {
  const { clock, registry } = parts;
  const { verb, rate = DEFAULT_RATE } = input;
  const filter = fixedFilter(input.filter, clock.now());
  const record: OperationRecord = {
    id: newId("op", clock.now()),
    verb,
    filter,
    plan: await makePlan(parts, verb, filter),
    state: "planned",
    rate,
    after: undefined,
    done: 0,
    results: {},
    message: undefined,
    plannedBy: actorOf(request),
    runBy: undefined,
    stoppedBy: undefined,
    note: noteOf(request),
    node: undefined,
    plannedAt: new Date(clock.now()),
    startedAt: undefined,
    endedAt: undefined,
  };
  await registry.operations.addOperation(record);
  return record;
}

/** Refuses a plan that does not say any more what would be done. */
async function recheck(parts: ApiParts, { verb, filter, plan: planned }: OperationRecord): Promise<void> {
  const now = await makePlan(parts, verb, filter).catch((error: unknown) => {
    // A named head has moved, or a named lane is empty by now.
    throw changed(error instanceof Error ? error.message : String(error));
  });
  const why = whyChanged(planned.count, now.count);
  if (why !== undefined) throw changed(why);
}

function changed(why: string): Error {
  return problem("plan_changed", `${why} Nothing was done: plan it again.`);
}

async function runPlanned(
  parts: ApiParts,
  request: FastifyRequest,
  id: string,
  wish: OperationRun,
): Promise<Operation> {
  const planned = await read(parts, id);
  if (planned.state === "planned") await recheck(parts, planned);
  return run(parts, request, { id, ...rated(wish) });
}

async function run(
  parts: ApiParts,
  request: FastifyRequest,
  { id, rate }: { readonly id: string; readonly rate: number },
): Promise<Operation> {
  const { clock, registry } = parts;
  const at = new Date(clock.now());
  // A second call finds it running, or ended, and changes nothing.
  const started = { rate, note: noteOf(request), by: actorOf(request), at };
  if (await registry.operations.startOperation(id, started)) parts.operationStarted();
  return showOperation(await read(parts, id));
}

async function stop(parts: ApiParts, request: FastifyRequest, id: string): Promise<Operation> {
  const stopped = await parts.registry.operations.stopOperation(
    id,
    actorOf(request),
    new Date(parts.clock.now()),
  );
  const now = await read(parts, id);
  if (stopped || now.state === "stopping" || now.state === "stopped") return showOperation(now);
  throw await ended(parts, id);
}

async function read({ registry }: ApiParts, id: string): Promise<OperationRecord> {
  const found = await registry.operations.readOperation(id);
  if (found === undefined) throw notFound("operation", id);
  return found;
}

async function ended(parts: ApiParts, id: string): Promise<Error> {
  const { state } = await read(parts, id);
  return problem("conflict", `The operation ${id} is ${state}: nothing can be changed any more.`);
}

const CREATE = routeSchema({
  operationId: "createOperation",
  summary: "Plans what is done to many deliveries, and runs it unless `dryRun` is true.",
  tag,
  body: { $ref: "OperationInput#" },
  answers: { 200: { $ref: "Operation#" }, 201: { $ref: "Operation#" } },
});

const LIST = routeSchema({
  operationId: "listOperations",
  summary: "Operations, newest first; without plans that were never run, unless that state is asked for.",
  tag,
  querystring: query({ state: PLAIN_TEXT, verb: PLAIN_TEXT, ...PAGE_QUERY }),
  answers: { 200: pageSchema("Operation") },
});

const GET = routeSchema({
  operationId: "getOperation",
  summary: "One operation, its plan and how far it is.",
  tag,
  params: param("id"),
  answers: { 200: { $ref: "Operation#" } },
});

const CHANGE = routeSchema({
  operationId: "changeOperation",
  summary: "Makes an operation slower or faster; from its next step on.",
  tag,
  params: param("id"),
  body: { type: "object", additionalProperties: false, required: ["rate"], properties: { rate: RATE } },
  answers: { 200: { $ref: "Operation#" } },
});

const RUN = routeSchema({
  operationId: "runOperation",
  summary: "Runs a plan, once; refused where it does not hold any more.",
  tag,
  params: param("id"),
  body: { $ref: "OperationRun#" },
  answers: { 200: { $ref: "Operation#" } },
});

const STOP = routeSchema({
  operationId: "stopOperation",
  summary: "Stops an operation: after this answer, at most the step that is under way is finished.",
  tag,
  params: param("id"),
  answers: { 200: { $ref: "Operation#" } },
});

const ITEMS = routeSchema({
  operationId: "listOperationItems",
  summary: "What an operation did to each item, in order.",
  tag,
  params: param("id"),
  querystring: query({ result: PLAIN_TEXT, ...PAGE_QUERY }),
  answers: { 200: pageSchema("OperationItem") },
});
