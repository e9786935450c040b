import { problemOf } from "posthorn/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { apiBench, closeBenches } from "../../../../test/server/api-bench.js";
import type { ApiBench } from "../../../../test/server/api-bench.js";

let bench: ApiBench;
beforeAll(async () => {
  bench = await apiBench();
  const { activity, registry } = bench.parts;
  activity.ingested({ source: "stripe", verdict: "stored", type: "t", eventId: "evt_1" });
  activity.ingested({ source: "stripe", verdict: "rejected", code: "signature_mismatch" });
  activity.observer({
    kind: "delivery_attempted",
    tenant: "default",
    delivery: "dlv_1_1",
    endpoint: "ep_1",
    type: "t",
    id: "evt_1",
    attempt: 1,
    outcome: "refused",
    status: 500,
    error: undefined,
    durationMs: 40,
  });
  await bench.client().events.publish({ type: "t", source: "shop", data: 1 });
  await registry.recordSeries("node-1", activity.counters.batch().rows);
});
afterAll(closeBenches);

it("one call tells what came in and went out, in total, by source and by endpoint", async () => {
  await bench.clock.advance(60_000);
  const series = await bench.client().series({ since: "5m", step: 60 });
  expect(series.times).toHaveLength(5);
  expect(series.times.at(-1)).toBe("2026-11-16T00:00:00.000Z");
  expect(series.total).toMatchObject({
    in: [0, 0, 0, 0, 2],
    published: [0, 0, 0, 0, 1],
    failed: [0, 0, 0, 0, 1],
  });
  expect(series.sources.map(({ name }) => name)).toEqual(["shop", "stripe"]);
  expect(series.sources[1]).toMatchObject({ stored: [0, 0, 0, 0, 1], rejected: [0, 0, 0, 0, 1] });
  expect(series.endpoints).toMatchObject([{ id: "ep_1", attempts: [0, 0, 0, 0, 1] }]);
  expect(series.cut).toBe(false);
});

it("hours are counted beside minutes, and one subject can be asked for alone", async () => {
  const day = await bench.client().series({ since: "24h", step: 3600, by: "source", source: "stripe" });
  expect(day.times.length).toBeGreaterThanOrEqual(24);
  expect(day.sources.map(({ name }) => name)).toEqual(["stripe"]);
  expect(day.sources[0]?.in.reduce((sum, each) => sum + each, 0)).toBe(2);
  expect(day.endpoints).toEqual([]);
});

it.each([
  [{ since: "yesterday" }, "since"],
  [{ since: "1h", until: "2h" }, "since"],
  [{ step: 61 }, "step"],
  [{ since: "3d", step: 300 }, "step"],
  [{ since: "47h", step: 60 }, "step"],
])("a range that cannot be told is refused with the reason: %j", async (query, field) => {
  const refused = await bench
    .client()
    .series(query)
    .catch((error: unknown) => error);
  expect(problemOf(refused)).toMatchObject({ status: 400, code: "request_invalid", field });
});
