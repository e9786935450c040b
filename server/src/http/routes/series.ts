import type { FastifyInstance } from "fastify";
import type { Series } from "posthorn/client";
import { defaultStep, frameFault, frameOf, seriesOf, STEPS } from "../../observe/series-view.js";
import { KEPT_MS } from "../../observe/series-writer.js";
import type { SeriesKind } from "../../store/series.js";
import type { ApiParts } from "../api-parts.js";
import { problem } from "../problem.js";
import { PLAIN_TEXT, query, routeSchema } from "../route-schema.js";
import { SINCE, timeRange } from "../time-range.js";
import type { RangeQuery } from "../time-range.js";

type By = "total" | "source" | "endpoint" | "all";

interface SeriesQuery extends RangeQuery {
  readonly step?: number;
  readonly by: By;
  readonly source?: string;
  readonly endpoint?: string;
}

const KINDS: Readonly<Record<By, readonly SeriesKind[]>> = {
  total: ["total"],
  source: ["source"],
  endpoint: ["endpoint"],
  all: ["total", "source", "endpoint"],
};
const HOUR_MS = 3_600_000;

/** /series: what was counted, over time. */
export function registerSeries(api: FastifyInstance, parts: ApiParts): void {
  api.get<{ Querystring: SeriesQuery }>("/series", { schema: SERIES }, async ({ query: asked }) =>
    series(parts, asked),
  );
}

async function series({ registry, clock }: ApiParts, asked: SeriesQuery): Promise<Series> {
  const nowMs = clock.now();
  const range = timeRange(asked, nowMs);
  const untilMs = range.until?.getTime() ?? nowMs;
  const sinceMs = range.since?.getTime() ?? untilMs - HOUR_MS;
  const stepS = asked.step ?? defaultStep(untilMs - sinceMs);
  const fault = frameFault(sinceMs, untilMs, { stepS, nowMs, keptMs: KEPT_MS[60] });
  if (fault !== undefined) throw problem("request_invalid", fault, { field: "step" });
  const frame = frameOf(sinceMs, untilMs, stepS);
  const span = { step: frame.from, since: new Date(frame.sinceMs), until: new Date(untilMs) };
  const names: Partial<Record<SeriesKind, string | undefined>> = {
    source: asked.source,
    endpoint: asked.endpoint,
  };
  const rows = await Promise.all(
    KINDS[asked.by].map((kind) => registry.readSeries({ ...span, kind, name: names[kind] })),
  );
  return seriesOf(frame, rows.flat());
}

const SERIES = routeSchema({
  operationId: "getSeries",
  summary: "What was counted, over time: by source, by endpoint and in total.",
  tag: "status",
  querystring: query({
    since: { ...SINCE, default: "1h" },
    until: SINCE,
    step: {
      type: "integer",
      enum: STEPS,
      description: "In seconds; the smallest that gives at most 120 points where it is left out.",
    },
    by: { type: "string", enum: ["total", "source", "endpoint", "all"], default: "all" },
    source: { ...PLAIN_TEXT, description: "Of the sources, this one." },
    endpoint: { ...PLAIN_TEXT, description: "Of the endpoints, this one." },
  }),
  answers: { 200: { $ref: "Series#" } },
});
