import type { FastifyInstance } from "fastify";
import type { Endpoint } from "posthorn";
import type { Status } from "posthorn/client";
import { freeBytes, ReadinessProbe } from "../../observe/readiness.js";
import { statusOf } from "../../observe/status-view.js";
import { packageVersion } from "../../package-version.js";
import type { SourceRecord } from "../../store/source.js";
import type { ApiParts } from "../api-parts.js";
import { routeSchema } from "../route-schema.js";

// However many people look, the tables are counted this seldom.
const KEPT_MS = 2000;
const SEEN_MS = 60_000;
const RECENT_MS = 600_000;
const DAY_MS = 86_400_000;
const MOST_BLOCKED = 50;
const MOST_HELD = 500;
const PAGE = 500;
const MOST_LISTED = 1000;

export type StatusParts = Pick<ApiParts, "outbox" | "registry" | "clock"> &
  Partial<Pick<ApiParts, "settings">>;

/** /status: what is wrong, in one sentence and as data. */
export function registerStatus(api: FastifyInstance, parts: ApiParts): void {
  const probe = new ReadinessProbe(parts);
  let last: { readonly atMs: number; readonly answer: Promise<Status> } | undefined;
  api.get("/status", { schema: STATUS }, async () => {
    const atMs = parts.clock.monotonic();
    if (last === undefined || atMs - last.atMs >= KEPT_MS) {
      const answer = readStatus(parts, probe);
      const made = { atMs, answer };
      last = made;
      // A failure is not kept: the next look asks again.
      answer.catch(() => {
        if (last === made) last = undefined;
      });
    }
    return last.answer;
  });
  // Whoever has just added an endpoint must not be told that there is none. Publishers write too often for that.
  api.addHook("onSend", (request, _reply, payload, done) => {
    if (request.method !== "GET" && request.routeOptions.url?.endsWith("/events") !== true) last = undefined;
    done(null, payload);
  });
}

/** Counts and judges everything, for the API and for metrics; with a probe, also whether anything can be written. */
export async function readStatus(parts: StatusParts, probe?: ReadinessProbe): Promise<Status> {
  const { outbox, registry, clock } = parts;
  const nowMs = clock.now();
  const until = new Date(nowMs + 60_000);
  const recent = { step: 60, since: new Date(nowMs - RECENT_MS), until } as const;
  const [nodes, census, standings, blocked, endpoints, sources, rows, day, lastSeen, ready, consumers, held] =
    await Promise.all([
      registry.listNodes(SEEN_MS),
      outbox.census(),
      outbox.standings(),
      outbox.blockedLanes({ limit: MOST_BLOCKED }),
      allEndpoints(parts),
      allSources(parts),
      Promise.all([
        registry.readSeries({ ...recent, kind: "endpoint" }),
        registry.readSeries({ ...recent, kind: "source" }),
      ]),
      registry.readSeries({ step: 3600, kind: "source", since: new Date(nowMs - DAY_MS), until }),
      registry.lastSeen("source", new Date(nowMs - 90 * DAY_MS)),
      // A full disk can still be read: without a write, all would look well while every event is refused.
      probe?.ask(),
      outbox.consumers(),
      outbox.heldEvents({}, { limit: MOST_HELD }),
    ]);
  return statusOf({
    nowMs,
    version: packageVersion(),
    nodes,
    census,
    standings,
    blockedLanes: blocked.items,
    endpoints,
    sources,
    recent: rows.flat(),
    day,
    lastSeen,
    refusal: ready?.ready === false ? ready.why : undefined,
    consumers,
    held: held.items,
    freeBytes: parts.settings === undefined ? undefined : freeBytes(parts.settings),
  });
}

async function allEndpoints({ outbox }: StatusParts): Promise<readonly Endpoint[]> {
  const all: Endpoint[] = [];
  for (;;) {
    const page = await outbox.listEndpoints({ after: all.at(-1)?.id, limit: PAGE });
    all.push(...page);
    if (page.length < PAGE || all.length >= MOST_LISTED) return all;
  }
}

async function allSources({ registry }: StatusParts): Promise<readonly SourceRecord[]> {
  const all: SourceRecord[] = [];
  for (;;) {
    const page = await registry.listSources({ after: all.at(-1)?.name, limit: PAGE });
    all.push(...page);
    if (page.length < PAGE || all.length >= MOST_LISTED) return all;
  }
}

const STATUS = routeSchema({
  operationId: "getStatus",
  summary: "What is wrong, in one sentence and as data; nodes, endpoints and sources with how they stand.",
  tag: "status",
  answers: { 200: { $ref: "Status#" } },
});
