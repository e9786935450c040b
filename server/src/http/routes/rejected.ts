import type { FastifyInstance } from "fastify";
import type { Ingested } from "posthorn";
import type { RetakenRequest } from "posthorn/client";
import { idAt } from "posthorn/gateway";
import { retake } from "../../ingest/retake.js";
import type { Retaken } from "../../ingest/retake.js";
import type { RejectedRecord } from "../../store/rejected-request.js";
import type { ApiParts } from "../api-parts.js";
import { checkedCursor, cutPage, PAGE_QUERY, pageSchema } from "../page.js";
import type { PageQuery } from "../page.js";
import { notFound, problem, shown } from "../problem.js";
import { showListedRejected, showRejected } from "../resources/rejected-request.js";
import { whole } from "../resources/text.js";
import { BYTES, param, PLAIN_TEXT, query, routeSchema } from "../route-schema.js";
import { sendAttachment } from "../strict-headers.js";
import { SINCE, timeRange } from "../time-range.js";
import type { RangeQuery } from "../time-range.js";

const tag = "rejected";
const REJECTED_ID = /^rej_\w{1,64}$/;

interface ById {
  readonly Params: { readonly id: string };
}

/** /rejected: requests that ingest rejected, and why. */
export function registerRejected(api: FastifyInstance, parts: ApiParts): void {
  const { registry, clock } = parts;
  const read = async (id: string): Promise<RejectedRecord> => {
    const found = await registry.readRejected(id);
    if (found === undefined) throw notFound("rejected request", id);
    return found;
  };
  api.get<{ Querystring: PageQuery & RangeQuery & { source?: string } }>(
    "/rejected",
    { schema: LIST },
    async ({ query: { source, after, limit, ...range } }) => {
      const { since, until } = timeRange(range, clock.now());
      // Ids begin with their time: where a range ends is a place in the list, as a cursor is.
      const end = checkedCursor(after, REJECTED_ID) ?? (until && idAt("rej", until.getTime()));
      const found = await registry.listRejected({ source, after: end, limit: limit + 1 });
      const wanted = since === undefined ? found : found.filter(({ receivedAt }) => receivedAt >= since);
      return cutPage(wanted, limit, { show: showListedRejected, nameOf: ({ id }) => id });
    },
  );
  api.get<ById>("/rejected/:id", { schema: GET }, async ({ params }) => showRejected(await read(params.id)));
  api.get<ById>("/rejected/:id/body", { schema: BODY }, async ({ params }, reply) => {
    const { id, body } = await read(params.id);
    return sendAttachment(reply, id, body);
  });
  api.post<ById>("/rejected/:id/retry", { schema: RETRY }, async ({ params }): Promise<RetakenRequest> => {
    const request = await read(params.id);
    const events = takenOf(await retake(parts, request), request);
    const done = events.every(({ kind }) => kind !== "conflict");
    // What was taken in is rejected no more; what contradicts a stored event is left for a person.
    if (done) await registry.dropRejected(request.id);
    return { events: events.map(({ kind, id }) => ({ id, verdict: kind })) };
  });
}

function takenOf(retaken: Retaken, { id, source, bodyBytes, body }: RejectedRecord): readonly Ingested[] {
  switch (retaken.kind) {
    case "taken":
      return retaken.events;
    case "refused":
      throw problem("conflict", `It is refused again (${retaken.code}): ${retaken.message}`);
    case "source_unknown":
      throw problem(
        "conflict",
        `There is no source ${shown(source)} any more, which ${shown(id)} was sent to.`,
      );
    case "partial":
      throw problem(
        "conflict",
        `Only ${body.length} of ${bodyBytes} bytes of ${shown(id)} were kept, or it was never read: it cannot be taken in again. Let its sender repeat it; the setting rejected_body says how much is kept.`,
      );
  }
}

const LIST = routeSchema({
  operationId: "listRejected",
  summary: "Requests that were not taken in, newest first.",
  tag,
  querystring: query({ source: PLAIN_TEXT, since: SINCE, until: SINCE, ...PAGE_QUERY }),
  answers: { 200: pageSchema("RejectedRequest") },
});

const GET = routeSchema({
  operationId: "getRejected",
  summary: "One of them, with what forensics found.",
  tag,
  params: param("id"),
  answers: { 200: { $ref: "RejectedRequest#" } },
});

const RETRY = routeSchema({
  operationId: "retryRejected",
  summary: "Takes a rejected request in again, by its source as it is now and by the time of its receipt.",
  tag,
  params: param("id"),
  answers: {
    200: whole<RetakenRequest>({
      events: {
        type: "array",
        items: whole<RetakenRequest["events"][number]>({
          id: { type: "string" },
          verdict: { type: "string", enum: ["stored", "duplicate", "conflict"] },
        }),
      },
    }),
  },
});

const BODY = routeSchema({
  operationId: "getRejectedBody",
  summary: "Its first bytes.",
  tag,
  params: param("id"),
  answers: { 200: BYTES },
});
