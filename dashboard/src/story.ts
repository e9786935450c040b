import type { Attempt, Delivery, EventDetail } from "posthorn/client";
import { api } from "./api.ts";

/** An event, and every attempt of each of its deliveries. */
export interface Story {
  readonly event: EventDetail;
  /** By delivery. */
  readonly attempts: ReadonlyMap<string, readonly Attempt[]>;
}

// Attempts are only ever added: they are asked for again when the delivery says that there is another.
const known = new Map<string, readonly Attempt[]>();
const MOST_KNOWN = 500;

export async function attemptsOf(delivery: Delivery): Promise<readonly Attempt[]> {
  const { id, round, attempts, state } = delivery;
  const key = `${id} ${round} ${attempts} ${state}`;
  const kept = known.get(key);
  if (kept !== undefined) return kept;
  if (attempts === 0 && round === 1) return [];
  const { items } = await api.deliveries.attempts(id);
  if (known.size >= MOST_KNOWN) known.clear();
  if (state !== "under_way") known.set(key, items);
  return items;
}

export async function loadStory(id: string, tenant: string): Promise<Story> {
  const event = await api.events.get(id, { tenant });
  const attempts = await Promise.all(
    event.deliveries.map(async (delivery) => [delivery.id, await attemptsOf(delivery)] as const),
  );
  return { event, attempts: new Map(attempts) };
}

/** One attempt on the axis of all, in parts of its width. */
export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly outcome: string;
}

export interface Axis {
  /** By delivery. */
  readonly bars: ReadonlyMap<string, readonly Bar[]>;
  readonly ticks: readonly { readonly at: number; readonly ms: number }[];
  readonly totalMs: number;
}

const LEAST_MS = 10;

/** Puts all attempts on one axis of time since the first of them, logarithmic: milliseconds and days both fit. */
export function axisOf(attempts: Story["attempts"]): Axis | undefined {
  const all = [...attempts.values()].flat();
  if (all.length === 0) return undefined;
  const start = Math.min(...all.map(({ startedAt }) => Date.parse(startedAt)));
  const endOf = ({ startedAt, durationMs }: Attempt): number => Date.parse(startedAt) - start + durationMs;
  const totalMs = Math.max(LEAST_MS, ...all.map((attempt) => endOf(attempt)));
  const scale = (ms: number): number => Math.log1p(ms / LEAST_MS) / Math.log1p(totalMs / LEAST_MS);
  const bars = [...attempts].map(([id, own]) => {
    const drawn = own.map((attempt) => ({
      from: scale(Date.parse(attempt.startedAt) - start),
      to: scale(endOf(attempt)),
      outcome: attempt.outcome,
    }));
    return [id, drawn] as const;
  });
  return { bars: new Map(bars), ticks: ticksOf(totalMs, scale), totalMs };
}

const TICKS_MS = [10, 100, 1000, 10_000, 60_000, 600_000, 3_600_000, 86_400_000];

function ticksOf(totalMs: number, scale: (ms: number) => number): Axis["ticks"] {
  const ticks = TICKS_MS.filter((ms) => ms <= totalMs).map((ms) => ({ at: scale(ms), ms }));
  // Labels that would touch each other say less than none.
  return ticks.filter(({ at }, index) => at - (ticks[index - 1]?.at ?? -1) > 0.12 && at < 0.95);
}
