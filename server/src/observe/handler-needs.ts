import type { Need } from "posthorn/client";
import type { ConsumerStanding, HeldRecord } from "posthorn/operator";
import { endWords, rangeWords } from "../http/resources/held.js";
import { hasWorker } from "../http/resources/inbox.js";
import { count, duration } from "../terminal/for-people.js";

/** A need that names nothing. */
export const NONE = {
  endpointId: null,
  laneId: null,
  key: null,
  source: null,
  sinceMs: null,
  because: null,
} as const;

/** `1 event waits`, `3 events wait`. */
export function waits(number: number): string {
  return `${count(number, "event")} ${number === 1 ? "waits" : "wait"}`;
}

/** What needs a person of handlers in the processes of hosts: no worker, a pause, a gap that is waited for. */
export function handlerNeeds(facts: HandlerFacts): readonly Need[] {
  return [
    ...facts.consumers.flatMap((consumer) => workerNeed(consumer, facts.nowMs)),
    ...facts.consumers.flatMap(pausedNeed),
    ...heldNeeds(facts),
  ];
}

interface HandlerFacts {
  readonly nowMs: number;
  readonly consumers: readonly ConsumerStanding[];
  readonly held: readonly HeldRecord[];
}

function workerNeed(consumer: ConsumerStanding, nowMs: number): readonly Need[] {
  if (hasWorker(consumer, nowMs)) return [];
  const { id, waiting, seenAt } = consumer;
  const sinceMs = seenAt === undefined ? null : nowMs - seenAt.getTime();
  const ago = sinceMs === null ? "" : ` for ${duration(sinceMs)}`;
  const text = `no worker: ${id}${ago}; ${count(waiting, "event")} ${waiting === 1 ? "waits" : "wait"}`;
  const level = waiting === 0 ? "note" : "bad";
  return [{ ...NONE, kind: "no_worker", level, text, endpointId: id, count: waiting, sinceMs }];
}

function pausedNeed(consumer: ConsumerStanding): readonly Need[] {
  const { id, state, because = null, pausedUntil, pausedBy, waiting } = consumer;
  if (state === "active") return [];
  const who = pausedBy === undefined ? "" : ` by ${pausedBy}`;
  const end = pausedUntil === undefined ? "" : ` until ${pausedUntil.toISOString()}`;
  const why = because === null ? "" : ` (${because})`;
  const text = `${state}: ${id}${who}${end}${why}; ${waits(waiting)}`;
  const about = { ...NONE, endpointId: id, because, sinceMs: consumer.oldestMs ?? null };
  return [
    { ...about, kind: "consumer_paused", level: state === "paused" ? "note" : "bad", text, count: waiting },
  ];
}

// A gap that is waited for as long as this needs a look: its source was given a long time, or no worker sequences.
const HELD_LONG_MS = 10 * 60_000;
const HELD_OVERDUE_MS = 60_000;

/** One for each key of which events wait for others that have not come. */
function heldNeeds({ held, nowMs }: HandlerFacts): readonly Need[] {
  const keys = new Map<string, HeldRecord[]>();
  for (const each of held) {
    const name = JSON.stringify([each.tenant, each.source, each.key]);
    keys.set(name, [...(keys.get(name) ?? []), each]);
  }
  return [...keys.values()].flatMap((waiting) => {
    const [first] = waiting;
    if (first?.hold === undefined) return [];
    const { source, key, hold } = first;
    const sinceMs = Math.max(
      0,
      nowMs - Math.min(...waiting.map((each) => each.hold?.since.getTime() ?? nowMs)),
    );
    const overdueMs = nowMs - hold.until.getTime();
    const what = hold.missing === undefined ? "others" : rangeWords(hold.missing);
    const text = `held: ${source} · ${key}; ${waits(waiting.length)} for ${what}, ${duration(sinceMs)}, ${endWords(hold.until, nowMs)}`;
    const level = sinceMs >= HELD_LONG_MS || overdueMs >= HELD_OVERDUE_MS ? "warn" : "note";
    return [{ ...NONE, kind: "key_held", level, text, source, key, count: waiting.length, sinceMs }];
  });
}
