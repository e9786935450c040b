import { readFileSync } from "node:fs";
import type { OutboxCensus } from "posthorn/operator";
import { createFakeClock } from "posthorn/testing";
import { expect, it } from "vitest";
import type { ServerOutbox } from "../parts.js";
import { createMetrics } from "./metrics.js";
import { statusOf } from "./status-view.js";
import { timedOutbox } from "./timed-outbox.js";

const CENSUS: OutboxCensus = {
  staged: 1,
  held: 0,
  waiting: 20,
  oldestDueMs: 3500,
  blockedLanes: 4,
  dead: 5,
  setAside: 6,
};

const STATUS = statusOf({
  nowMs: Date.parse("2027-01-01T00:10:00Z"),
  version: "1.0.0",
  nodes: [],
  census: { ...CENSUS, oldestDueMs: 0 },
  standings: [
    {
      endpointId: "ep_1",
      tenant: "default",
      waiting: 7,
      haltedLanes: 2,
      parkedLanes: 0,
      retryingLanes: 1,
      blocked: 5,
      oldestMs: 7_200_000,
      exact: true,
    },
  ],
  blockedLanes: [],
  endpoints: [
    { id: "ep_1", tenant: "default", url: "https://example.com/", state: "active", because: undefined },
    {
      id: "ep_2",
      tenant: "default",
      url: "https://example.com/",
      state: "disabled",
      because: "it answered 410",
    },
  ],
  sources: [{ name: "stripe", tenant: "default", scheme: "stripe" }],
  recent: [],
  day: [],
  lastSeen: new Map([["stripe", new Date("2027-01-01T00:00:00Z")]]),
  consumers: [],
  held: [],
});

const lines = async (metrics: ReturnType<typeof createMetrics>, name: string): Promise<string[]> =>
  (await metrics.text()).body.split("\n").filter((line) => line.startsWith(`posthorn_${name}`));

it("attempts are counted by their outcome and the class of their status", async () => {
  const metrics = createMetrics({ processMetrics: false });
  const attempt = {
    kind: "delivery_attempted",
    tenant: "default",
    delivery: "dlv_1_1",
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
    status: () => Promise.resolve(STATUS),
    retention: () => Promise.resolve({ bytes: 1, freeBytes: undefined, tables: [], kinds }),
  });
  const { body } = await metrics.text();
  const known = [...body.matchAll(/^# TYPE (posthorn_\w+)/gm)].map(([, name]) => name);
  expect(new Set(documented)).toEqual(new Set(known));
});

it("a halted lane, a disabled endpoint, a missing dispatcher and a silent source are seen while nothing is due", async () => {
  const metrics = createMetrics({
    processMetrics: false,
    census: () => Promise.resolve({ ...CENSUS, oldestDueMs: 0 }),
    status: () => Promise.resolve(STATUS),
  });
  expect(await lines(metrics, "oldest_due_seconds")).toEqual(["posthorn_oldest_due_seconds 0"]);
  expect(await lines(metrics, "oldest_undelivered_seconds")).toEqual([
    "posthorn_oldest_undelivered_seconds 7200",
  ]);
  expect(await lines(metrics, "lanes{")).toEqual([
    'posthorn_lanes{state="halted"} 2',
    'posthorn_lanes{state="parked"} 0',
    'posthorn_lanes{state="retrying"} 1',
  ]);
  expect(await lines(metrics, "endpoints{")).toEqual(
    expect.arrayContaining([
      'posthorn_endpoints{state="halted"} 1',
      'posthorn_endpoints{state="disabled"} 1',
    ]),
  );
  expect(await lines(metrics, "nodes{")).toContain('posthorn_nodes{role="dispatch"} 0');
  expect(await lines(metrics, "source_quiet_seconds{")).toEqual([
    'posthorn_source_quiet_seconds{source="stripe"} 600',
  ]);
});

it("why endpoints were disabled is a kind of reason, never a cut sentence", async () => {
  const metrics = createMetrics({ processMetrics: false });
  for (const because of [
    "it answered 410",
    "its secrets cannot be opened",
    "an operator of 10.0.0.7 said so",
  ]) {
    metrics.observer({ kind: "endpoint_disabled", endpoint: "ep_1", because });
  }
  expect(await lines(metrics, "endpoints_disabled_total")).toEqual([
    'posthorn_endpoints_disabled_total{because="answered_410"} 1',
    'posthorn_endpoints_disabled_total{because="secret"} 1',
    'posthorn_endpoints_disabled_total{because="other"} 1',
  ]);
});

it("every alarm in docs/server.md is on a metric that there is", () => {
  const page = readFileSync(new URL("../../../docs/server.md", import.meta.url), "utf8");
  const documented = new Set([...page.matchAll(/^\| `(posthorn_\w+)` \|/gm)].map(([, name]) => name));
  const [, alarms = ""] = /### Alarms\n([^]*?)\n## /.exec(page) ?? [];
  const named = [...alarms.matchAll(/`(posthorn_\w+)/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name) => !documented.has(name))).toEqual([]);
});
