import type { EndpointStanding, Need, SourceStanding, Status, StatusCounts } from "posthorn/client";
import type { Endpoint } from "posthorn";
import type {
  BlockedLane,
  ConsumerStanding,
  HeldRecord,
  EndpointStanding as Standing,
  OutboxCensus,
} from "posthorn/operator";
import { showConsumer } from "../http/resources/inbox.js";
import type { SeenNode, SeriesRow } from "../store/series.js";
import type { SourceRecord } from "../store/source.js";
import { count, duration, size } from "../terminal/for-people.js";
import { handlerNeeds, NONE, waits } from "./handler-needs.js";
import { LogHistogram } from "./log-histogram.js";

/** Everything that a status is made of. */
export interface StatusFacts {
  readonly nowMs: number;
  readonly version: string;
  readonly nodes: readonly SeenNode[];
  readonly census: OutboxCensus;
  readonly standings: readonly Standing[];
  /** The longest blocked. */
  readonly blockedLanes: readonly BlockedLane[];
  readonly endpoints: readonly Pick<Endpoint, "id" | "tenant" | "url" | "state" | "because">[];
  readonly sources: readonly Pick<SourceRecord, "name" | "tenant" | "scheme">[];
  /** The minutes of the last ten. */
  readonly recent: readonly SeriesRow[];
  /** The hours of the last day, of sources. */
  readonly day: readonly SeriesRow[];
  readonly lastSeen: ReadonlyMap<string, Date>;
  /** Why the database does not take a write. */
  readonly refusal?: string | undefined;
  readonly consumers: readonly ConsumerStanding[];
  /** The first of those that wait for others of their key. */
  readonly held: readonly HeldRecord[];
  /** Of the disk on which the database is, where it can be seen. */
  readonly freeBytes?: number | undefined;
}

// An endpoint fails when a fifth of at least five attempts did.
const FAILING = { attempts: 5, share: 0.2 };
// A source rejects when half of at least three requests were.
const REJECTING = { requests: 3, share: 0.5 };
// A source is silent when nothing came for ten times its usual pause, and a quarter of an hour.
const SILENT = { events: 10, pauses: 10, leastMs: 15 * 60_000 };
// A lane that is tried again for longer than this needs a look.
const RETRYING_MS = 10 * 60_000;
const MOST_NEEDS = 50;
const DAY_MS = 86_400_000;

/** How everything stands. Pure. */
export function statusOf(facts: StatusFacts): Status {
  const endpoints = facts.endpoints.map((endpoint) => endpointStanding(endpoint, facts));
  const sources = facts.sources.map((source) => sourceStanding(source, facts));
  const counts = countsOf(facts);
  const needs = needsOf(facts, { endpoints, sources, counts });
  return {
    sentence: sentenceOf(needs, counts),
    ok: needs.every(({ level }) => level === "note"),
    at: new Date(facts.nowMs).toISOString(),
    version: facts.version,
    nodes: facts.nodes.map(({ name, roles, version, startedAt, seenAt, seenMs }) => ({
      name,
      roles,
      version,
      startedAt: startedAt.toISOString(),
      seenAt: seenAt.toISOString(),
      seenMs,
    })),
    counts,
    needs: needs.slice(0, MOST_NEEDS),
    endpoints,
    sources,
    consumers: facts.consumers.map((consumer) => showConsumer(consumer, facts.nowMs)),
  };
}

function countsOf({ census, standings: endpoints, consumers }: StatusFacts): StatusCounts {
  const standings = [...endpoints, ...consumers];
  const sum = (of: (standing: (typeof standings)[number]) => number): number =>
    standings.reduce((all, standing) => all + of(standing), 0);
  const oldest = standings.map(({ oldestMs = 0 }) => oldestMs);
  return {
    waiting: census.waiting,
    staged: census.staged,
    held: census.held,
    dead: census.dead,
    haltedLanes: sum(({ haltedLanes }) => haltedLanes),
    parkedLanes: sum(({ parkedLanes }) => parkedLanes),
    retryingLanes: sum(({ retryingLanes }) => retryingLanes),
    blockedDeliveries: sum(({ blocked }) => blocked),
    oldestDueMs: Math.round(census.oldestDueMs),
    oldestUndeliveredMs: Math.round(Math.max(census.oldestDueMs, ...oldest)),
    exact: standings.every(({ exact }) => exact),
  };
}

function endpointStanding(
  { id, tenant, url, state: configured, because }: StatusFacts["endpoints"][number],
  { standings, recent }: StatusFacts,
): EndpointStanding {
  const standing = standings.find(({ endpointId }) => endpointId === id);
  const rows = recent.filter(({ kind, name }) => kind === "endpoint" && name === id);
  const of = (what: string): number => rows.reduce((all, { counts }) => all + (counts[what] ?? 0), 0);
  const [attempts, failed] = [of("attempts"), of("failed")];
  const [durations, lags] = [merged(rows, "duration"), merged(rows, "lag")];
  const { haltedLanes = 0, parkedLanes = 0, retryingLanes = 0 } = standing ?? {};
  const isFailing = attempts >= FAILING.attempts && failed / attempts >= FAILING.share;
  return {
    id,
    tenant,
    url,
    state: worstOf(configured, { haltedLanes, parkedLanes, isFailing }),
    configured,
    because: because ?? null,
    waiting: standing?.waiting ?? 0,
    haltedLanes,
    parkedLanes,
    retryingLanes,
    oldestMs: standing?.oldestMs === undefined ? null : Math.round(standing.oldestMs),
    exact: standing?.exact ?? true,
    recent: {
      attempts,
      delivered: of("delivered"),
      failed,
      dead: of("dead"),
      p50Ms: durations.quantile(0.5) ?? null,
      p99Ms: durations.quantile(0.99) ?? null,
      lagP99Ms: lags.quantile(0.99) ?? null,
    },
  };
}

function worstOf(
  configured: EndpointStanding["configured"],
  found: { readonly haltedLanes: number; readonly parkedLanes: number; readonly isFailing: boolean },
): EndpointStanding["state"] {
  if (configured !== "active") return configured;
  if (found.haltedLanes > 0) return "halted";
  if (found.parkedLanes > 0) return "parked";
  return found.isFailing ? "failing" : "active";
}

function merged(rows: readonly SeriesRow[], what: "duration" | "lag"): LogHistogram {
  const all = new LogHistogram();
  for (const row of rows) all.merge(LogHistogram.fromText(row[what]));
  return all;
}

function sourceStanding(
  { name, tenant, scheme }: StatusFacts["sources"][number],
  { nowMs, recent, day, lastSeen }: StatusFacts,
): SourceStanding {
  const isOwn = (row: SeriesRow): boolean => row.kind === "source" && row.name === name;
  const of = (what: string): number =>
    recent.filter(isOwn).reduce((all, { counts }) => all + (counts[what] ?? 0), 0);
  const taken = { stored: of("stored"), duplicate: of("duplicate"), conflict: of("conflict") };
  const rejected = of("rejected");
  const all = taken.stored + taken.duplicate + taken.conflict + rejected + of("failedIn");
  const last = lastSeen.get(name);
  const usual = day
    .filter(isOwn)
    .reduce((sum, { counts }) => sum + (counts["stored"] ?? 0) + (counts["duplicate"] ?? 0), 0);
  const quietMs = last === undefined ? 0 : nowMs - last.getTime();
  const isSilent =
    usual >= SILENT.events && quietMs > Math.max(SILENT.leastMs, (SILENT.pauses * DAY_MS) / usual);
  const isRejecting = all >= REJECTING.requests && rejected / all >= REJECTING.share;
  return {
    name,
    tenant,
    scheme,
    state: last === undefined ? "new" : isRejecting ? "rejecting" : isSilent ? "silent" : "active",
    lastAt: last?.toISOString() ?? null,
    recent: { in: all, ...taken, rejected },
  };
}

interface Standings {
  readonly endpoints: readonly EndpointStanding[];
  readonly sources: readonly SourceStanding[];
  readonly counts: StatusCounts;
}

/** What needs a person, worst first. */
function needsOf(facts: StatusFacts, standings: Standings): readonly Need[] {
  return [
    ...refusalNeeds(facts),
    ...dispatcherNeeds(facts),
    ...handlerNeeds(facts),
    ...facts.blockedLanes.flatMap(laneNeed),
    ...standings.endpoints.flatMap((endpoint) => endpointNeed(endpoint, facts)),
    ...standings.sources.flatMap((source) => sourceNeed(source, facts.nowMs)),
    ...deadNeed(standings.counts),
  ].toSorted((one, other) => rankOf(one) - rankOf(other));
}

const LEVELS: readonly Need["level"][] = ["bad", "warn", "note"];
const KINDS: readonly Need["kind"][] = [
  "store_refusing",
  "no_dispatcher",
  "no_worker",
  "lane_halted",
  "lane_parked",
  "endpoint_disabled",
  "endpoint_failing",
  "source_rejecting",
  "source_silent",
  "dead_letters",
  "lane_retrying",
  "key_held",
  "consumer_paused",
  "endpoint_paused",
];

function rankOf({ level, kind }: Need): number {
  return LEVELS.indexOf(level) * KINDS.length + KINDS.indexOf(kind);
}

/** As much as `posthorn doctor` wants: a small write still succeeds when an event finds no room. */
export const LEAST_FREE_BYTES: number = 200 * 1024 ** 2;

function refusalNeeds({ refusal, freeBytes = Infinity }: StatusFacts): readonly Need[] {
  if (refusal === undefined) {
    if (freeBytes >= LEAST_FREE_BYTES) return [];
    const full = `the disk is nearly full: ${size(freeBytes)} free; events that find no room are refused`;
    return [{ ...NONE, kind: "store_refusing", level: "bad", text: full, count: 1 }];
  }
  const text = `nothing is taken in or delivered: ${refusal.charAt(0).toLowerCase()}${refusal.slice(1).replace(/\.$/, "")}`;
  return [{ ...NONE, kind: "store_refusing", level: "bad", text, count: 1 }];
}

function dispatcherNeeds({ nodes, census, consumers }: StatusFacts): readonly Need[] {
  // What waits for handlers waits for workers, in other processes, which sequence too.
  const forHandlers = consumers.reduce((all, { waiting }) => all + waiting, 0);
  const staged = consumers.length === 0 ? census.staged : 0;
  const waiting = Math.max(0, staged + census.waiting - forHandlers);
  if (waiting === 0 || nodes.length === 0 || nodes.some(({ roles }) => roles.includes("dispatch"))) return [];
  const text = `no node delivers: ${waits(waiting)} for one with the role dispatch`;
  return [{ ...NONE, kind: "no_dispatcher", level: "bad", text, count: waiting }];
}

function laneNeed(lane: BlockedLane): readonly Need[] {
  const { id, endpointId, key, state, depth, blockedMs } = lane;
  const kinds = { halted: "lane_halted", parked: "lane_parked", retrying: "lane_retrying" } as const;
  // Lanes of an endpoint that is stopped are told once, with their endpoint.
  if (state === "paused" || state === "disabled") return [];
  if (state === "retrying" && blockedMs < RETRYING_MS) return [];
  return [
    {
      ...NONE,
      kind: kinds[state],
      level: state === "retrying" ? "warn" : "bad",
      text: `${state}: ${endpointId}${key === "" ? "" : ` · ${key}`}; ${count(depth - 1n, "event")} behind it, ${duration(blockedMs)}`,
      endpointId,
      laneId: id.toString(),
      key,
      count: Number(depth),
      sinceMs: Math.round(blockedMs),
    },
  ];
}

function endpointNeed(endpoint: EndpointStanding, facts: StatusFacts): readonly Need[] {
  const { id, configured, because, waiting, oldestMs, recent } = endpoint;
  const about = { ...NONE, endpointId: id, sinceMs: oldestMs, because };
  if (configured === "disabled") {
    const text = `disabled: ${id}${because === null ? "" : ` (${because})`}; ${waits(waiting)}`;
    return [{ ...about, kind: "endpoint_disabled", level: "bad", text, count: waiting }];
  }
  if (configured === "paused") {
    const text = `paused: ${id}; ${waits(waiting)}`;
    return [{ ...about, kind: "endpoint_paused", level: "note", text, count: waiting }];
  }
  const { attempts, failed } = recent;
  if (attempts < FAILING.attempts || failed / attempts < FAILING.share) return [];
  const text = `failing: ${id}; ${Math.round((100 * failed) / attempts)} % of ${count(attempts, "attempt")} in 10 min${recovered(id, facts)}`;
  return [{ ...about, kind: "endpoint_failing", level: "warn", text, count: failed }];
}

const JUST_NOW_MS = 120_000;

/** Ten minutes remember a failure that is over: whoever has just mended the receiver must see that it helped. */
function recovered(endpointId: string, { nowMs, recent }: StatusFacts): string {
  const rows = recent.filter(
    ({ kind, name, at }) => kind === "endpoint" && name === endpointId && at.getTime() > nowMs - JUST_NOW_MS,
  );
  const of = (what: string): number => rows.reduce((all, { counts }) => all + (counts[what] ?? 0), 0);
  return of("attempts") > 0 && of("failed") === 0 ? `, none of the last ${of("attempts")}` : "";
}

function sourceNeed({ name, state, lastAt, recent }: SourceStanding, nowMs: number): readonly Need[] {
  const quietMs = lastAt === null ? 0 : nowMs - Date.parse(lastAt);
  const about = { ...NONE, source: name, level: "warn" } as const;
  if (state === "rejecting") {
    const text = `rejecting: source ${name}; ${recent.rejected} of ${count(recent.in, "request")} in 10 min`;
    return [{ ...about, kind: "source_rejecting", text, count: recent.rejected }];
  }
  if (state !== "silent") return [];
  const text = `silent: source ${name}; no event for ${duration(quietMs)}`;
  return [{ ...about, kind: "source_silent", text, count: 0, sinceMs: quietMs }];
}

/** Dead letters behind which nothing waits: those at the heads of lanes are told with their lanes. */
function deadNeed({ dead, haltedLanes, parkedLanes }: StatusCounts): readonly Need[] {
  const others = dead - haltedLanes - parkedLanes;
  if (others <= 0) return [];
  const text = `${count(others, "dead letter")} ${others === 1 ? "waits" : "wait"} for a decision`;
  return [{ ...NONE, kind: "dead_letters", level: "warn", text, count: others }];
}

/** One sentence, or a few: the worst first, and how long the longest has waited. */
function sentenceOf(needs: readonly Need[], counts: StatusCounts): string {
  const of = (kind: Need["kind"]): number => needs.filter((need) => need.kind === kind).length;
  const { haltedLanes, parkedLanes, blockedDeliveries, oldestUndeliveredMs } = counts;
  const stopped = [
    ...(haltedLanes > 0 ? [`${are(haltedLanes, "lane")} halted`] : []),
    ...(parkedLanes > 0 ? [`${are(parkedLanes, "lane")} parked`] : []),
  ].join(" and ");
  const behind = Math.max(0, blockedDeliveries - haltedLanes - parkedLanes);
  const lanes = haltedLanes + parkedLanes;
  const queued = `${waits(behind)} behind ${lanes === 1 ? "it" : "them"}`;
  const dead = needs.find(({ kind }) => kind === "dead_letters");
  const unserved = needs.filter(({ kind }) => kind === "store_refusing" || kind === "no_dispatcher");
  const parts = [
    ...unserved.map(({ text }) => capital(text)),
    ...(stopped === "" ? [] : [behind === 0 ? stopped : `${stopped}; ${queued}`]),
    ...told(
      needs.filter(({ kind, level }) => kind === "no_worker" && level === "bad").length,
      "consumer",
      "without a worker",
    ),
    ...told(of("endpoint_disabled"), "endpoint", "disabled"),
    ...told(of("endpoint_failing"), "endpoint", "failing"),
    ...told(of("source_rejecting"), "source", "rejecting what comes"),
    ...told(of("source_silent"), "source", "silent"),
    ...(dead === undefined ? [] : [dead.text]),
    ...told(of("lane_retrying"), "lane", "tried again and again"),
    ...told(
      needs.filter(({ kind, level }) => kind === "key_held" && level === "warn").length,
      "key",
      "held for long",
    ),
  ];
  if (parts.length === 0) return counts.held === 0 ? "Nothing is stuck." : heldSentence(counts.held);
  const oldest = oldestUndeliveredMs >= 1000 ? ` Oldest due: ${duration(oldestUndeliveredMs)}.` : "";
  return `${parts.join(". ")}.${oldest}`;
}

/** It ends by itself; whoever looks for such an event must not be told that all is well. */
function heldSentence(held: number): string {
  return `Nothing is stuck for good: ${waits(held)} for others of ${held === 1 ? "its key" : "their keys"}.`;
}

function told(number: number, what: string, how: string): readonly string[] {
  return number === 0 ? [] : [`${are(number, what)} ${how}`];
}

function are(number: number, what: string): string {
  return `${count(number, what)} ${number === 1 ? "is" : "are"}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
