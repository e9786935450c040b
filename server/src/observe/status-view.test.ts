import { describe, expect, it } from "vitest";
import { statusOf } from "./status-view.js";
import type { StatusFacts } from "./status-view.js";

const NOW = Date.UTC(2026, 10, 18, 9, 30);
const MIN = 60_000;
const node = (roles: readonly string[]) => ({
  name: "n",
  roles,
  version: "1",
  startedAt: new Date(NOW),
  seenAt: new Date(NOW),
  seenMs: 0,
});

const QUIET: StatusFacts = {
  nowMs: NOW,
  version: "1.2.3",
  nodes: [node(["ingest", "dispatch", "api"])],
  census: { staged: 0, held: 0, waiting: 0, oldestDueMs: 0, blockedLanes: 0, dead: 0, setAside: 0 },
  standings: [],
  blockedLanes: [],
  endpoints: [],
  sources: [],
  recent: [],
  day: [],
  lastSeen: new Map(),
  consumers: [],
  held: [],
};

const source = (name: string) => ({ name, tenant: "default", scheme: "stripe" });

const EP = {
  id: "pharmacy",
  tenant: "default",
  url: "https://a.example/",
  state: "active",
  because: undefined,
} as const;
const STANDING = {
  endpointId: "pharmacy",
  tenant: "default",
  waiting: 43,
  haltedLanes: 2,
  parkedLanes: 0,
  retryingLanes: 0,
  blocked: 43,
  oldestMs: 125 * MIN,
  exact: true,
};
const LANE = {
  id: 12n,
  tenant: "default",
  endpointId: "pharmacy",
  key: "cus_9",
  state: "halted",
  depth: 42n,
  head: 9n,
  headEventId: "evt_1",
  blockedMs: 125 * MIN,
  failures: 3,
  dueInMs: undefined,
} as const;

function row(
  kind: "source" | "endpoint",
  name: string,
  counts: Record<string, number>,
): StatusFacts["recent"][number] {
  return { step: 60, kind, name, at: new Date(NOW - MIN), counts, duration: "", lag: "" };
}

describe("the sentence of a status", () => {
  it("says that nothing is stuck where nothing is, also while much waits and moves", () => {
    expect(statusOf(QUIET)).toMatchObject({ sentence: "Nothing is stuck.", ok: true, needs: [] });
    const busy = { ...QUIET, census: { ...QUIET.census, waiting: 5000, oldestDueMs: 300 } };
    expect(statusOf(busy).sentence).toBe("Nothing is stuck.");
  });

  it("says before all else that nothing can be written, though everything can be read", () => {
    const status = statusOf({ ...QUIET, refusal: "The database refused a write: the disk is full." });
    expect(status).toMatchObject({
      sentence: "Nothing is taken in or delivered: the database refused a write: the disk is full.",
      ok: false,
      needs: [{ kind: "store_refusing", level: "bad" }],
    });
  });

  it("warns of a disk that is nearly full, before every event is refused", () => {
    expect(statusOf({ ...QUIET, freeBytes: 3 * 1024 ** 2 }).sentence).toBe(
      "The disk is nearly full: 3 MiB free; events that find no room are refused.",
    );
    expect(statusOf({ ...QUIET, freeBytes: 1024 ** 3 }).sentence).toBe("Nothing is stuck.");
  });

  it("counts halted lanes, what waits behind their dead heads, and how long the longest has", () => {
    const status = statusOf({
      ...QUIET,
      census: { ...QUIET.census, waiting: 41, dead: 2, blockedLanes: 2 },
      standings: [STANDING],
      blockedLanes: [LANE],
      endpoints: [EP],
    });
    expect(status.sentence).toBe("2 lanes are halted; 41 events wait behind them. Oldest due: 2 h 5 min.");
    expect(status.ok).toBe(false);
    expect(status.counts).toMatchObject({
      haltedLanes: 2,
      blockedDeliveries: 43,
      oldestUndeliveredMs: 125 * MIN,
    });
    expect(status.needs).toMatchObject([
      {
        kind: "lane_halted",
        level: "bad",
        laneId: "12",
        endpointId: "pharmacy",
        text: "halted: pharmacy · cus_9; 41 events behind it, 2 h 5 min",
      },
    ]);
    expect(status.endpoints).toMatchObject([
      { id: "pharmacy", state: "halted", configured: "active", waiting: 43 },
    ]);
  });

  it("says it of one lane in the singular, and leaves out what waits where nothing does", () => {
    const one = { ...STANDING, haltedLanes: 1, blocked: 1, waiting: 1, oldestMs: 4200 };
    const sentence = (standing: typeof STANDING): string =>
      statusOf({ ...QUIET, standings: [standing] }).sentence;
    expect(sentence(one)).toBe("1 lane is halted. Oldest due: 4.2 s.");
    expect(sentence({ ...one, blocked: 2, parkedLanes: 0 })).toBe(
      "1 lane is halted; 1 event waits behind it. Oldest due: 4.2 s.",
    );
    expect(sentence({ ...one, parkedLanes: 2, blocked: 13 })).toBe(
      "1 lane is halted and 2 lanes are parked; 10 events wait behind them. Oldest due: 4.2 s.",
    );
  });

  it("says of an endpoint that has failed within ten minutes, and does no more, that it helped", () => {
    const before = {
      ...row("endpoint", "market", { attempts: 100, failed: 100 }),
      at: new Date(NOW - 5 * MIN),
    };
    const now = row("endpoint", "market", { attempts: 40, delivered: 40 });
    const [need] = statusOf({ ...QUIET, endpoints: [{ ...EP, id: "market" }], recent: [before, now] }).needs;
    expect(need?.text).toBe("failing: market; 71 % of 140 attempts in 10 min, none of the last 40");
  });

  it("names endpoints that are disabled or fail, and notes those that somebody paused", () => {
    const status = statusOf({
      ...QUIET,
      endpoints: [
        { ...EP, id: "circus", state: "disabled", because: "gone 410" },
        { ...EP, id: "market" },
        { ...EP, id: "bakery", state: "paused" },
        { ...EP, id: "fine" },
      ],
      recent: [
        row("endpoint", "market", { attempts: 100, delivered: 69, failed: 31 }),
        row("endpoint", "fine", { attempts: 100, delivered: 90, failed: 10 }),
      ],
    });
    expect(status.sentence).toBe("1 endpoint is disabled. 1 endpoint is failing.");
    expect(status.needs.map(({ kind, level, text }) => [kind, level, text])).toEqual([
      ["endpoint_disabled", "bad", "disabled: circus (gone 410); 0 events wait"],
      ["endpoint_failing", "warn", "failing: market; 31 % of 100 attempts in 10 min"],
      ["endpoint_paused", "note", "paused: bakery; 0 events wait"],
    ]);
    expect(status.endpoints.map(({ state }) => state)).toEqual(["disabled", "failing", "paused", "active"]);
    const paused = statusOf({ ...QUIET, endpoints: [{ ...EP, state: "paused" }] });
    expect([paused.ok, paused.sentence]).toEqual([true, "Nothing is stuck."]);
  });

  it("tells a source that fell silent from one that is slow, new, or rejecting", () => {
    const status = statusOf({
      ...QUIET,
      sources: [source("busy"), source("slow"), source("new"), source("wrong")],
      day: [row("source", "busy", { stored: 1440 }), row("source", "slow", { stored: 11 })],
      recent: [row("source", "wrong", { stored: 1, rejected: 4 })],
      lastSeen: new Map([
        ["busy", new Date(NOW - 47 * MIN)],
        ["slow", new Date(NOW - 120 * MIN)],
        ["wrong", new Date(NOW)],
      ]),
    });
    expect(status.sources.map(({ name, state }) => `${name} ${state}`)).toEqual([
      "busy silent",
      "slow active",
      "new new",
      "wrong rejecting",
    ]);
    expect(status.needs.map(({ text }) => text)).toEqual([
      "rejecting: source wrong; 4 of 5 requests in 10 min",
      "silent: source busy; no event for 47 min",
    ]);
    expect(status.sentence).toBe("1 source is rejecting what comes. 1 source is silent.");
  });

  it("says that nobody delivers where events wait and no node has the role", () => {
    const census = { ...QUIET.census, staged: 7 };
    expect(statusOf({ ...QUIET, census, nodes: [node(["ingest", "api"])] }).sentence).toBe(
      "No node delivers: 7 events wait for one with the role dispatch.",
    );
    expect(statusOf({ ...QUIET, census }).sentence).toBe("Nothing is stuck.");
  });

  it("counts dead letters that hold up nobody, and lanes that are tried again for long", () => {
    const status = statusOf({
      ...QUIET,
      census: { ...QUIET.census, dead: 3 },
      standings: [{ ...STANDING, haltedLanes: 0, blocked: 0, retryingLanes: 2, oldestMs: 20 * MIN }],
      blockedLanes: [
        { ...LANE, state: "retrying", blockedMs: 20 * MIN },
        { ...LANE, id: 13n, state: "retrying", blockedMs: MIN },
      ],
    });
    expect(status.sentence).toBe(
      "3 dead letters wait for a decision. 1 lane is tried again and again. Oldest due: 20 min.",
    );
  });
});
