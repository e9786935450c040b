import type { FastifyInstance, FastifyRequest } from "fastify";
import type { DeadGroup, DeadLetter, DeadNote, DeadQuery, Page } from "posthorn/client";
import { deadFilterOf } from "../../operations/dead-query.js";
import type { ApiParts } from "../api-parts.js";
import { actorOf } from "../audit.js";
import { showGroup, showNote } from "../dead-group.js";
import { PAGE_QUERY, pageSchema } from "../page.js";
import type { PageQuery } from "../page.js";
import { notFound, problem } from "../problem.js";
import { showDeadLetter } from "../resources/lane.js";
import { DEAD_QUERY, MAYBE_NOTE } from "../resources/operation.js";
import { whole } from "../resources/text.js";
import { query, routeSchema } from "../route-schema.js";

const tag = "dead";

type GroupQuery = Omit<DeadQuery, "key" | "since" | "until">;
type ListQuery = DeadQuery & PageQuery & { readonly order?: "newest" | "oldest"; readonly type?: string };

/** /dead: deliveries that were given up, one by one and in groups. */
export function registerDead(api: FastifyInstance, parts: ApiParts): void {
  api.get<{ Querystring: ListQuery }>(
    "/dead",
    { schema: LIST },
    async ({ query: asked }): Promise<Page<DeadLetter>> => {
      if (asked.type !== undefined) {
        throw problem(
          "request_invalid",
          "Dead letters are not found by `type`: no index has it, and millions of them would be read. Filter by endpoint, because, status, error, key, tenant, since or until.",
          { field: "type" },
        );
      }
      const filter = { ...deadFilterOf(asked, parts.clock.now()), order: asked.order };
      const { items, next } = await parts.outbox.deadLetters(
        { limit: asked.limit, after: asked.after },
        filter,
      );
      return { items: items.map(showDeadLetter), next: next ?? null };
    },
  );
  api.get<{ Querystring: GroupQuery }>("/dead/groups", { schema: GROUPS }, async ({ query: asked }) => ({
    items: await groups(parts, asked),
    next: null,
  }));
  api.put<{ Params: { id: string }; Body: { text: string | null } }>(
    "/dead/groups/:id/note",
    { schema: NOTE },
    (request) => writeNote(parts, request, request.params.id, request.body.text),
  );
}

async function writeNote(
  { registry: { audit }, clock }: ApiParts,
  request: FastifyRequest,
  groupId: string,
  text: string | null,
): Promise<{ readonly note: DeadNote | null }> {
  if (!/^[^.]+\.[^.]+\.[^.]+\.[^.]+$/.test(groupId)) throw notFound("group of dead letters", groupId);
  if (text === null || text === "") await audit.removeNote(groupId);
  else await audit.writeNote({ groupId, text, by: actorOf(request).name, at: new Date(clock.now()) });
  return { note: showNote((await audit.readNotes([groupId]))[0]) };
}

async function groups(
  { outbox, registry, clock }: ApiParts,
  asked: GroupQuery,
): Promise<readonly DeadGroup[]> {
  const found = await outbox.deadGroups(deadFilterOf(asked, clock.now()));
  const bare = found.map((group) => ({ group, id: showGroup(group, undefined).id }));
  const notes = await registry.audit.readNotes(bare.map(({ id }) => id));
  const byGroup = new Map(notes.map((note) => [note.groupId, note]));
  return bare.map(({ group, id }) => showGroup(group, byGroup.get(id)));
}

const { key: _key, since: _since, until: _until, ...GROUP_QUERY } = DEAD_QUERY;

const LIST = routeSchema({
  operationId: "listDead",
  summary:
    "Deliveries that were given up, newest first. Every filter is served by an index; others are refused.",
  tag,
  querystring: query({
    ...DEAD_QUERY,
    order: { type: "string", enum: ["newest", "oldest"] },
    type: { type: "string", maxLength: 255, description: "Refused, with the reason." },
    ...PAGE_QUERY,
  }),
  answers: { 200: pageSchema("DeadLetter") },
});

const GROUPS = routeSchema({
  operationId: "listDeadGroups",
  summary: "Dead letters that died alike, counted as they die; largest group first.",
  tag,
  querystring: query(GROUP_QUERY),
  answers: { 200: pageSchema("DeadGroup") },
});

const NOTE = routeSchema({
  operationId: "noteDeadGroup",
  summary: "Writes what is known about a group of dead letters; null takes it away.",
  tag,
  params: {
    type: "object",
    required: ["id"],
    properties: { id: { type: "string", minLength: 1, maxLength: 700 } },
  },
  body: {
    type: "object",
    additionalProperties: false,
    required: ["text"],
    properties: { text: { type: ["string", "null"], maxLength: 1000 } },
  },
  answers: { 200: whole<{ note: DeadNote | null }>({ note: MAYBE_NOTE }) },
});
