import type { FastifyInstance } from "fastify";
import type { LaneWaiting, WaitingDelivery } from "posthorn/client";
import { parseLaneId } from "posthorn/gateway";
import type { LaneSummary, QueuedDelivery } from "posthorn/operator";
import type { ApiParts } from "../api-parts.js";
import { notFound } from "../problem.js";
import { showLane } from "../resources/lane.js";
import { param, query, routeSchema } from "../route-schema.js";
import { laneSentence } from "../story.js";

interface Asked {
  readonly first: number;
  readonly last: number;
  readonly before: number;
}

/** /lanes/:id/waiting: what stands in a lane, from both ends. */
export function registerLaneWaiting(api: FastifyInstance, parts: ApiParts): void {
  api.get<{ Params: { readonly id: string }; Querystring: Asked }>(
    "/lanes/:id/waiting",
    { schema: WAITING },
    async ({ params: { id }, query: asked }) => {
      const laneId = parseLaneId(id);
      const lane = laneId === undefined ? undefined : await parts.outbox.lane(laneId);
      if (lane === undefined) throw notFound("lane in which something waits, with the id", id);
      return waitingIn(parts, lane, asked);
    },
  );
}

async function waitingIn(parts: ApiParts, lane: LaneSummary, asked: Asked): Promise<LaneWaiting> {
  const { outbox } = parts;
  const [finished, first, newest, head] = await Promise.all([
    outbox.queue(lane.id, "finished", asked.before),
    outbox.queue(lane.id, "first", asked.first),
    outbox.queue(lane.id, "last", asked.last),
    outbox.delivery(idIn(lane, lane.head)),
  ]);
  const shownTo = first.at(-1)?.sequence ?? lane.head - 1n;
  const last = newest.filter(({ sequence }) => sequence > shownTo);
  const states = new Map(
    (await Promise.all(finished.map(({ sequence }) => outbox.delivery(idIn(lane, sequence))))).map((each) => [
      each?.id,
      each?.state,
    ]),
  );
  const show = (each: QueuedDelivery): WaitingDelivery => {
    const id = idIn(lane, each.sequence);
    const state = each.sequence === lane.head ? head?.state : states.get(id);
    return showQueued(each, { id, state: state ?? "waiting", nowMs: parts.clock.now() });
  };
  const shown = showLane(lane);
  const between = lane.depth - BigInt(first.length) - BigInt(last.length);
  return {
    lane: shown,
    sentence: laneSentence(shown, head && { attempts: head.attempts, ...lastOf(head) }),
    before: finished.map(show),
    first: first.map(show),
    last: last.map(show),
    // It may have moved between two of the reads.
    between: (between < 0n ? 0n : between).toString(),
  };
}

function lastOf(head: { readonly lastStatus: number | undefined; readonly lastError: string | undefined }): {
  readonly lastStatus: number | null;
  readonly lastError: string | null;
} {
  return { lastStatus: head.lastStatus ?? null, lastError: head.lastError ?? null };
}

function idIn({ id }: LaneSummary, sequence: bigint): string {
  return `dlv_${id}_${sequence}`;
}

function showQueued(
  { sequence, eventId, type, time, writtenAt }: QueuedDelivery,
  { id, state, nowMs }: Pick<WaitingDelivery, "id" | "state"> & { readonly nowMs: number },
): WaitingDelivery {
  return {
    id,
    sequence: sequence.toString(),
    eventId,
    type,
    state,
    time: time.toISOString(),
    writtenAt: writtenAt.toISOString(),
    ageMs: Math.max(0, nowMs - writtenAt.getTime()),
  };
}

function some(initial: number): object {
  return { type: "integer", minimum: 0, maximum: 100, default: initial };
}

const WAITING = routeSchema({
  operationId: "getLaneWaiting",
  summary: "What stands in a lane: the last that are finished, the first that wait, and the newest.",
  tag: "lanes",
  params: param("id"),
  querystring: query({ first: some(20), last: some(5), before: some(3) }),
  answers: { 200: { $ref: "LaneWaiting#" } },
});
