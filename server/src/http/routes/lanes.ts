import type { FastifyInstance } from "fastify";
import type { PosthornError } from "posthorn";
import type { Lane, Page, SkipInput, Skipped } from "posthorn/client";
import { parseLaneId } from "posthorn/gateway";
import type { LaneSummary } from "posthorn/operator";
import type { ApiParts } from "../api-parts.js";
import { listLanes } from "../lane-list.js";
import { PAGE_QUERY, pageSchema } from "../page.js";
import type { PageQuery } from "../page.js";
import { notFound, problem } from "../problem.js";
import { showLane } from "../resources/lane.js";
import { BIG, whole } from "../resources/text.js";
import { param, PLAIN_TEXT, query, routeSchema } from "../route-schema.js";

const tag = "lanes";

interface ById {
  readonly Params: { readonly id: string };
}

/** /lanes: lanes in which something waits, and what blocks them. */
export function registerLanes(api: FastifyInstance, parts: ApiParts): void {
  api.get<{ Querystring: PageQuery & { endpoint?: string } }>(
    "/lanes",
    { schema: LIST },
    async ({ query: asked }): Promise<Page<Lane>> => {
      const { items, next } = await listLanes(parts.outbox, asked);
      return { items: items.map(showLane), next: next ?? null };
    },
  );
  api.get<ById>("/lanes/:id", { schema: GET }, async ({ params: { id } }): Promise<Lane> => {
    const laneId = parseLaneId(id);
    const lane = laneId === undefined ? undefined : await parts.outbox.lane(laneId);
    if (lane === undefined) throw notFound("lane in which something waits, with the id", id);
    return showLane(lane);
  });
  api.post<ById & { Body: SkipInput }>(
    "/lanes/:id/skip",
    { schema: SKIP },
    async ({ params: { id }, body: { head } }): Promise<Skipped> => {
      const laneId = parseLaneId(id);
      const result = laneId === undefined ? "unknown" : await parts.operator.skip(laneId, BigInt(head));
      if (result !== "unknown") return { result };
      const lane = laneId === undefined ? undefined : await parts.outbox.lane(laneId);
      if (lane === undefined) throw notFound("lane in which something waits, with the id", id);
      throw moved(lane);
    },
  );
}

/** The named head is not the lane's head now. */
function moved({ id, head }: LaneSummary): PosthornError {
  return problem("lane_moved", `The head of lane ${id} is ${head} by now. Nothing was skipped.`, {
    head: head.toString(),
  });
}

const LIST = routeSchema({
  operationId: "listLanes",
  summary: "Blocked lanes first, longest blocked at the top, then the others in which something waits.",
  tag,
  querystring: query({ endpoint: PLAIN_TEXT, ...PAGE_QUERY }),
  answers: { 200: pageSchema("Lane") },
});

const GET = routeSchema({
  operationId: "getLane",
  summary: "One lane.",
  tag,
  params: param("id"),
  answers: { 200: { $ref: "Lane#" } },
});

const SKIP = routeSchema({
  operationId: "skipLaneHead",
  summary:
    "Passes over the head of a lane, where it is the one that is named: the lane goes on, and receivers are told of the gap.",
  tag,
  params: param("id"),
  body: {
    additionalProperties: false,
    ...whole<SkipInput>({ head: { ...BIG, description: "The sequence that is meant, as decimal text." } }),
  },
  answers: { 200: whole<Skipped>({ result: { type: "string", enum: ["skipped", "intended"] } }) },
});
