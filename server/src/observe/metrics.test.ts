import { readFileSync } from "node:fs";
import type { OutboxCensus } from "posthorn/operator";
import { createFakeClock } from "posthorn/testing";
import { expect, it } from "vitest";
import type { ServerOutbox } from "../parts.js";
import { createMetrics } from "./metrics.js";
import { timedOutbox } from "./timed-outbox.js";

const CENSUS: OutboxCensus = {
  staged: 1,
  waiting: 20,
  oldestDueMs: 3500,
  blockedLanes: 4,
  dead: 5,
  setAside: 6,
};

const lines = async (metrics: ReturnType<typeof createMetrics>, name: string): Promise<string[]> =>
  (await metrics.text()).body.split("\n").filter((line) => line.startsWith(`posthorn_${name}`));

it("attempts are counted by their outcome and the class of their status", async () => {
  const metrics = createMetrics({ processMetrics: false });
  const attempt = {
    kind: "delivery_attempted",
    endpoint: "ep_1",
    type: "a",
    id: "evt_1",
    attempt: 1,
  } as const;
  metrics.observer({ ...attempt, outcome: "acknowledged", status: 204, error: undefined, durationMs: 20 });
  metrics.observer({ ...attempt, outcome: "refused", status: 503, error: undefined, durationMs: 20 });
  metrics.observer({ ...attempt, outcome: "unreachable", status: undefined, error: "dns", durationMs: 20 });
  expect(await lines(metrics, "attempts_total")).toEqual([
    'posthorn_attempts_total{outcome="acknowledged",status_class="2xx"} 1',
    'posthorn_attempts_total{outcome="refused",status_class="5xx"} 1',
    'posthorn_attempts_total{outcome="unreachable",status_class="none"} 1',
  ]);
});

it("any number of sources makes a bounded number of series", async () => {
  const metrics = createMetrics({ processMetrics: false });
  for (let source = 0; source < 500; source++) metrics.ingested(`source-${source}`, "stored");
  const found = await lines(metrics, "ingest_total");
  expect(found).toHaveLength(201);
  expect(found.at(-1)).toBe('posthorn_ingest_total{source="other",verdict="stored"} 300');
});

it("scrapes within five seconds share one census", async () => {
  let counts = 0;
  const clock = createFakeClock();
  const census = (): Promise<OutboxCensus> => Promise.resolve({ ...CENSUS, dead: counts++ });
  const metrics = createMetrics({ processMetrics: false, clock, census });
  await Promise.all([metrics.text(), metrics.text(), metrics.text()]);
  expect(await lines(metrics, "oldest_due_seconds")).toEqual(["posthorn_oldest_due_seconds 3.5"]);
  expect(counts).toBe(1);
  await clock.advance(5000);
  expect(await lines(metrics, "dead_deliveries")).toEqual(["posthorn_dead_deliveries 1"]);
  expect(counts).toBe(2);
});

it("a store that hangs does not hang a scrape, and is asked once", async () => {
  let counts = 0;
  const clock = createFakeClock();
  const census = (): Promise<OutboxCensus> => {
    counts += 1;
    return new Promise(() => undefined);
  };
  const metrics = createMetrics({ processMetrics: false, clock, census });
  for (let scrape = 0; scrape < 3; scrape++) {
    const page = metrics.text();
    await clock.advance(1000);
    expect((await page).body).not.toMatch(/^posthorn_dead_deliveries \d/m);
  }
  expect(counts).toBe(1);
});

it("a store that fails is counted, and the page still comes", async () => {
  const metrics = createMetrics({ processMetrics: false, census: () => Promise.reject(new Error("down")) });
  await metrics.text();
  expect(await lines(metrics, "store_failures_total")).toEqual([
    'posthorn_store_failures_total{operation="census"} 1',
  ]);
});

it("questions to the outbox are timed, and its own fields are left alone", async () => {
  class Store {
    readonly transactions = "synchronous";
    #asked = 0;
    ingest(): Promise<number> {
      return Promise.resolve(++this.#asked);
    }
  }
  const metrics = createMetrics({ processMetrics: false });
  const outbox = timedOutbox(new Store() as unknown as ServerOutbox, metrics);
  expect(await outbox.ingest({} as never)).toBe(1);
  expect(await outbox.ingest({} as never)).toBe(2);
  expect(outbox.transactions).toBe("synchronous");
  expect(await lines(metrics, "store_seconds_count")).toEqual([
    'posthorn_store_seconds_count{operation="ingest"} 2',
  ]);
});

it("docs/server.md names every metric", async () => {
  const page = readFileSync(new URL("../../../docs/server.md", import.meta.url), "utf8");
  const documented = [...page.matchAll(/^\| `(posthorn_\w+)` \|/gm)].map(([, name]) => name);
  const kinds = [{ kind: "events" as const, removed: 1, passedMs: 1, oldestMs: 1 }];
  const metrics = createMetrics({
    processMetrics: false,
    census: () => Promise.resolve(CENSUS),
    retention: () => Promise.resolve({ bytes: 1, freeBytes: undefined, tables: [], kinds }),
  });
  const { body } = await metrics.text();
  const known = [...body.matchAll(/^# TYPE (posthorn_\w+)/gm)].map(([, name]) => name);
  expect(new Set(documented)).toEqual(new Set(known));
});
