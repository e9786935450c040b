import type { FastifyInstance } from "fastify";
import type { Page, Source, SourceInput, SourceUpdate } from "posthorn/client";
import { checkSource, checkSourceChange } from "../../ingest/check-source.js";
import type { SourceRecord } from "../../store/source.js";
import type { ApiParts } from "../api-parts.js";
import { checkedCursor, cutPage, PAGE_QUERY, pageSchema } from "../page.js";
import type { PageQuery } from "../page.js";
import { notFound, problem } from "../problem.js";
import { showSource } from "../resources/source.js";
import { NOTHING, param, query, routeSchema } from "../route-schema.js";

const tag = "sources";
const SOURCE_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

interface ByName {
  readonly Params: { readonly name: string };
}

/** /sources: where inbound events come from. */
export function registerSources(api: FastifyInstance, parts: ApiParts): void {
  api.get<{ Querystring: PageQuery }>("/sources", { schema: LIST }, ({ query: asked }) => list(parts, asked));
  api.post<{ Body: SourceInput }>("/sources", { schema: CREATE }, async ({ body }, reply) =>
    reply.code(201).send(await create(parts, body)),
  );
  api.get<ByName>("/sources/:name", { schema: GET }, async ({ params }) =>
    showSource(await read(parts, params.name), parts.settings.publicUrl),
  );
  api.patch<ByName & { Body: SourceUpdate }>("/sources/:name", { schema: UPDATE }, ({ params, body }) =>
    update(parts, params.name, body),
  );
  api.delete<ByName>("/sources/:name", { schema: REMOVE }, async ({ params }, reply) => {
    await remove(parts, params.name);
    return reply.code(204).send();
  });
}

async function list({ registry, settings }: ApiParts, { limit, after }: PageQuery): Promise<Page<Source>> {
  const found = await registry.listSources({ after: checkedCursor(after, SOURCE_NAME), limit: limit + 1 });
  return cutPage(found, limit, {
    show: (source) => showSource(source, settings.publicUrl),
    nameOf: ({ name }) => name,
  });
}

async function read({ registry }: ApiParts, name: string): Promise<SourceRecord> {
  const found = await registry.readSource(name);
  if (found === undefined) throw notFound("source", name);
  return found;
}

async function create(parts: ApiParts, input: SourceInput): Promise<Source> {
  const source = checkSource(input, parts.clock, parts.settings.publicUrl);
  if (!(await parts.registry.addSource(source))) {
    throw problem("conflict", `There is a source ${source.name} already. Change it, or choose another name.`);
  }
  await parts.sourcesChanged();
  return showSource(source, parts.settings.publicUrl);
}

async function update(parts: ApiParts, name: string, change: SourceUpdate): Promise<Source> {
  const changed = await parts.registry.changeSource(name, (before) =>
    checkSourceChange(before, change, parts.clock, parts.settings.publicUrl),
  );
  if (changed === undefined) throw notFound("source", name);
  await parts.sourcesChanged();
  return showSource(changed, parts.settings.publicUrl);
}

async function remove(parts: ApiParts, name: string): Promise<void> {
  if (!(await parts.registry.removeSource(name))) throw notFound("source", name);
  await parts.sourcesChanged();
}

const LIST = routeSchema({
  operationId: "listSources",
  summary: "Sources, in the order of their names.",
  tag,
  querystring: query(PAGE_QUERY),
  answers: { 200: pageSchema("Source") },
});

const CREATE = routeSchema({
  operationId: "createSource",
  summary: "Adds a source; its provider sends to `path`.",
  tag,
  body: { $ref: "SourceInput#" },
  answers: { 201: { $ref: "Source#" } },
});

const GET = routeSchema({
  operationId: "getSource",
  summary: "One source.",
  tag,
  params: param("name"),
  answers: { 200: { $ref: "Source#" } },
});

const UPDATE = routeSchema({
  operationId: "updateSource",
  summary: "Changes a source. Secrets that are given replace all that there were.",
  tag,
  params: param("name"),
  body: { $ref: "SourceUpdate#" },
  answers: { 200: { $ref: "Source#" } },
});

const REMOVE = routeSchema({
  operationId: "removeSource",
  summary: "Removes a source: what its provider sends from now on is not taken.",
  tag,
  params: param("name"),
  answers: { 204: NOTHING },
});
