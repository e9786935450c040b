import type { Attempt, StoryDelivery } from "posthorn/client";

/** By which the address of a page names one attempt: `dlv_12_9.1.3`, its round and its number. */
export function attemptName({ id }: Pick<StoryDelivery, "id">, { round, number }: Attempt): string {
  return `${id}.${round}.${number}`;
}

export interface Tried {
  readonly delivery: StoryDelivery;
  readonly attempt: Attempt;
}

/** The attempt of that name; without one, the last that failed. */
export function attemptOf(deliveries: readonly StoryDelivery[], name: string | null): Tried | undefined {
  const all = deliveries.flatMap((delivery) => delivery.tried.map((attempt) => ({ delivery, attempt })));
  const named = all.find(({ delivery, attempt }) => attemptName(delivery, attempt) === name);
  return named ?? all.findLast(({ attempt }) => attempt.outcome !== "acknowledged");
}

export function bytesOf(base64: string | null): Uint8Array {
  if (base64 === null || base64 === "") return new Uint8Array();
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** The first bytes of an answer, as far as they are text. */
export function answerText(base64: string | null): string {
  return new TextDecoder().decode(bytesOf(base64)).trim();
}

/** One attempt on the axis of all, in parts of its width. */
export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly outcome: string;
  readonly name: string;
}

export interface Axis {
  /** By delivery. */
  readonly bars: ReadonlyMap<string, readonly Bar[]>;
  readonly ticks: readonly { readonly at: number; readonly ms: number }[];
  readonly totalMs: number;
}

const LEAST_MS = 10;

/** Puts all attempts on one axis of time since the first of them, logarithmic: milliseconds and days both fit. */
export function axisOf(deliveries: readonly Pick<StoryDelivery, "id" | "tried">[]): Axis | undefined {
  const all = deliveries.flatMap(({ tried }) => tried);
  if (all.length === 0) return undefined;
  const start = Math.min(...all.map(({ startedAt }) => Date.parse(startedAt)));
  const endOf = ({ startedAt, durationMs }: Attempt): number => Date.parse(startedAt) - start + durationMs;
  const totalMs = Math.max(LEAST_MS, ...all.map((attempt) => endOf(attempt)));
  const scale = (ms: number): number => Math.log1p(ms / LEAST_MS) / Math.log1p(totalMs / LEAST_MS);
  const bars = deliveries.map(({ id, tried }) => {
    const drawn = tried.map((attempt) => ({
      from: scale(Date.parse(attempt.startedAt) - start),
      to: scale(endOf(attempt)),
      outcome: attempt.outcome,
      name: attemptName({ id }, attempt),
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
