import type { Signal } from "posthorn";
import { describe, expect, it } from "vitest";
import type { SeriesRow } from "../store/series.js";
import { SeriesCounters } from "./series-counters.js";

const START = Date.UTC(2026, 10, 18, 9, 59, 30);

function attempt(endpoint: string, outcome: string): Signal {
  return {
    kind: "delivery_attempted",
    tenant: "default",
    delivery: "dlv_1_1",
    endpoint,
    type: "t",
    id: "evt_1",
    attempt: 1,
    outcome,
    status: 200,
    error: undefined,
    durationMs: 12,
  };
}

function find(rows: readonly SeriesRow[], step: number, kind: string, name: string): SeriesRow | undefined {
  return rows.find((row) => row.step === step && row.kind === kind && row.name === name);
}

describe("the counters of a node", () => {
  it("count by minute and by hour, each subject and the total", () => {
    const counters = new SeriesCounters(() => START);
    counters.ingested("stripe", "stored");
    counters.ingested("stripe", "duplicate");
    counters.ingested("github", "handshake");
    counters.published("shop");
    counters.observe(attempt("ep_1", "acknowledged"), 80);
    counters.observe(attempt("ep_1", "refused"), undefined);
    counters.observe(
      {
        kind: "delivery_dead",
        endpoint: "ep_1",
        type: "t",
        id: "evt_1",
        because: "exhausted",
        policy: "halt",
      },
      undefined,
    );
    const { rows } = counters.batch();
    expect(rows).toHaveLength(2 * 4);
    expect(find(rows, 60, "source", "stripe")?.counts).toEqual({ stored: 1, duplicate: 1 });
    expect(find(rows, 3600, "endpoint", "ep_1")?.counts).toEqual({
      attempts: 2,
      delivered: 1,
      failed: 1,
      dead: 1,
    });
    expect(find(rows, 60, "total", "")).toMatchObject({
      at: new Date(Date.UTC(2026, 10, 18, 9, 59)),
      counts: { stored: 1, duplicate: 1, published: 1, attempts: 2, delivered: 1, failed: 1, dead: 1 },
    });
    expect(find(rows, 3600, "total", "")?.at).toEqual(new Date(Date.UTC(2026, 10, 18, 9)));
    expect(find(rows, 60, "endpoint", "ep_1")?.lag).toMatch(/^\d+:1$/);
    expect(find(rows, 60, "source", "github")).toBeUndefined();
  });

  it("give whole rows again until they were written, and nothing when nothing has changed", () => {
    const counters = new SeriesCounters(() => START);
    counters.ingested("stripe", "stored");
    const lost = counters.batch();
    counters.ingested("stripe", "stored");
    const second = counters.batch();
    expect(find(second.rows, 60, "source", "stripe")?.counts).toEqual({ stored: 2 });
    counters.ingested("stripe", "stored");
    second.written();
    const third = counters.batch();
    expect(find(third.rows, 60, "source", "stripe")?.counts).toEqual({ stored: 3 });
    third.written();
    expect(counters.batch().rows).toEqual([]);
    expect(lost.rows).not.toEqual([]);
  });

  it("keep a minute that has ended until it was written, and begin the next one at nothing", () => {
    let now = START;
    const counters = new SeriesCounters(() => now);
    counters.ingested("stripe", "stored");
    now += 60_000;
    counters.ingested("stripe", "stored");
    const batch = counters.batch();
    const minutes = batch.rows.filter(({ step, kind }) => step === 60 && kind === "source");
    expect(minutes.map(({ at, counts }) => [at.getTime(), counts["stored"]])).toEqual([
      [Date.UTC(2026, 10, 18, 9, 59), 1],
      [Date.UTC(2026, 10, 18, 10, 0), 1],
    ]);
    batch.written();
    counters.ingested("stripe", "stored");
    expect(counters.batch().rows.map(({ at }) => at.getTime())).not.toContain(Date.UTC(2026, 10, 18, 9, 59));
  });

  it("go on in the last minute where the clock is set back: a minute that was written is not begun again", () => {
    let now = START;
    const counters = new SeriesCounters(() => now);
    counters.ingested("stripe", "stored");
    now += 60_000;
    counters.ingested("stripe", "stored");
    counters.batch().written();
    now -= 60_000;
    counters.ingested("stripe", "stored");
    const { rows } = counters.batch();
    expect(find(rows, 60, "source", "stripe")).toMatchObject({
      at: new Date(Date.UTC(2026, 10, 18, 10, 0)),
      counts: { stored: 2 },
    });
    expect(rows.filter(({ step }) => step === 60).map(({ at }) => at.getTime())).not.toContain(
      Date.UTC(2026, 10, 18, 9, 59),
    );
  });

  it("put subjects beyond a thousand into one row", () => {
    const counters = new SeriesCounters(() => START);
    for (let n = 0; n < 1500; n++) counters.ingested(`s${n}`, "stored");
    const sources = counters.batch().rows.filter(({ step, kind }) => step === 60 && kind === "source");
    expect(sources).toHaveLength(1001);
    expect(sources.find(({ name }) => name === "other")?.counts).toEqual({ stored: 500 });
  });
});
