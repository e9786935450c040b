import type { EndpointCounts, Quantiles, Series, SourceCounts } from "posthorn/client";
import type { FieldsOf } from "./text.js";
import { INSTANT, whole } from "./text.js";

const COUNTS = { type: "array", items: { type: "integer" } } as const;
const MAYBE_TIMES = { type: "array", items: { type: ["number", "null"] } } as const;

const QUANTILES: object = {
  ...whole<Quantiles>({ count: COUNTS, p50: MAYBE_TIMES, p90: MAYBE_TIMES, p99: MAYBE_TIMES }),
  description: "In milliseconds, within 10 %; null where nothing was timed.",
};

const SOURCE_COUNTS: FieldsOf<SourceCounts> = {
  in: { ...COUNTS, description: "Everything that providers sent." },
  stored: COUNTS,
  duplicate: COUNTS,
  conflict: COUNTS,
  rejected: COUNTS,
  failedIn: { ...COUNTS, description: "Answered with 503, because the database failed." },
  published: { ...COUNTS, description: "Through the API." },
};

const ENDPOINT_COUNTS: FieldsOf<EndpointCounts> = {
  attempts: COUNTS,
  delivered: COUNTS,
  failed: COUNTS,
  dead: COUNTS,
  duration: QUANTILES,
  lag: QUANTILES,
};

export const SERIES: object = {
  $id: "Series",
  ...whole<Series>({
    since: INSTANT,
    until: INSTANT,
    stepS: { type: "integer" },
    times: { type: "array", items: INSTANT, description: "The start of each step; every array is as long." },
    total: whole<SourceCounts & EndpointCounts>({ ...SOURCE_COUNTS, ...ENDPOINT_COUNTS }),
    sources: {
      type: "array",
      items: whole<Series["sources"][number]>({ name: { type: "string" }, ...SOURCE_COUNTS }),
    },
    endpoints: {
      type: "array",
      items: whole<Series["endpoints"][number]>({ id: { type: "string" }, ...ENDPOINT_COUNTS }),
    },
    cut: { type: "boolean", description: "True where only the busiest are listed." },
  }),
};
