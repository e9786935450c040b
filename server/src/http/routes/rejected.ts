import type { FastifyInstance } from "fastify";
import type { RejectedRecord } from "../../store/rejected-request.js";
import type { ApiParts } from "../api-parts.js";
import { checkedCursor, cutPage, PAGE_QUERY, pageSchema } from "../page.js";
import type { PageQuery } from "../page.js";
import { notFound } from "../problem.js";
import { showRejected } from "../resources/rejected-request.js";
import { BYTES, param, PLAIN_TEXT, query, routeSchema } from "../route-schema.js";
import { sendAttachment } from "../strict-headers.js";

const tag = "rejected";
const REJECTED_ID = /^rej_\w{1,64}$/;

interface ById {
  readonly Params: { readonly id: string };
}

/** /rejected: requests that ingest rejected, and why. */
export function registerRejected(api: FastifyInstance, { registry }: ApiParts): void {
  const read = async (id: string): Promise<RejectedRecord> => {
    const found = await registry.readRejected(id);
    if (found === undefined) throw notFound("rejected request", id);
    return found;
  };
  api.get<{ Querystring: PageQuery & { source?: string } }>(
    "/rejected",
    { schema: LIST },
    async ({ query: { source, after, limit } }) => {
      const found = await registry.listRejected({
        source,
        after: checkedCursor(after, REJECTED_ID),
        limit: limit + 1,
      });
      return cutPage(found, limit, { show: showRejected, nameOf: ({ id }) => id });
    },
  );
  api.get<ById>("/rejected/:id", { schema: GET }, async ({ params }) => showRejected(await read(params.id)));
  api.get<ById>("/rejected/:id/body", { schema: BODY }, async ({ params }, reply) => {
    const { id, body } = await read(params.id);
    return sendAttachment(reply, id, body);
  });
}

const LIST = routeSchema({
  operationId: "listRejected",
  summary: "Requests that were not taken in, newest first.",
  tag,
  querystring: query({ source: PLAIN_TEXT, ...PAGE_QUERY }),
  answers: { 200: pageSchema("RejectedRequest") },
});

const GET = routeSchema({
  operationId: "getRejected",
  summary: "One of them, with what forensics found.",
  tag,
  params: param("id"),
  answers: { 200: { $ref: "RejectedRequest#" } },
});

const BODY = routeSchema({
  operationId: "getRejectedBody",
  summary: "Its first bytes.",
  tag,
  params: param("id"),
  answers: { 200: BYTES },
});
