import type { HeldEvent, HeldGap, HeldReleased } from "posthorn/client";
import type { HeldRecord } from "posthorn/operator";
import { count, duration } from "../../terminal/for-people.js";
import { BIG, INSTANT, instant, MAYBE_INSTANT, TEXTS, whole } from "./text.js";

const TEXT = { type: "string" } as const;

const GAP = whole<HeldGap>({ from: BIG, to: BIG });

export const HELD_EVENT: object = {
  $id: "HeldEvent",
  ...whole<HeldEvent>({
    id: { ...TEXT, description: "The stored event." },
    tenant: TEXT,
    source: TEXT,
    key: TEXT,
    type: TEXT,
    generation: BIG,
    sequence: BIG,
    receivedAt: INSTANT,
    consumerIds: { ...TEXTS, description: "The handlers that get it: all of them wait." },
    heldSince: { ...MAYBE_INSTANT, description: "Null where it is held no longer, or never was." },
    heldUntil: { ...MAYBE_INSTANT, description: "At the latest; then what is missing is given up." },
    missing: {
      anyOf: [GAP, { type: "null" }],
      description: "Directly before it; null where it waits for those alone that are held before it.",
    },
    gap: {
      anyOf: [
        whole<NonNullable<HeldEvent["gap"]>>({
          from: BIG,
          to: BIG,
          because: { ...TEXT, enum: ["time", "number", "restart", "operator"] },
        }),
        { type: "null" },
      ],
      description: "What was given up before it, and why.",
    },
    late: { type: "boolean", description: "It came after its place had been passed." },
    sentence: { ...TEXT, description: "What it waits for, or what was decided, in words." },
  }),
};

export const HELD_RELEASED: object = whole<HeldReleased>({
  id: TEXT,
  events: { type: "integer", description: "How many events are held no longer." },
  gaps: { type: "array", items: GAP, description: "What was given up, in the order of the sequences." },
});

export function showHeld(record: HeldRecord, nowMs: number): HeldEvent {
  const { tenant, source, key, eventId, type, generation, sequence, consumers, hold, gap, isLate } = record;
  return {
    id: eventId,
    tenant,
    source,
    key,
    type,
    generation: String(generation),
    sequence: String(sequence),
    receivedAt: record.receivedAt.toISOString(),
    consumerIds: [...consumers],
    heldSince: instant(hold?.since),
    heldUntil: instant(hold?.until),
    missing: hold?.missing === undefined ? null : showGap(hold.missing),
    gap: gap === undefined ? null : { ...showGap(gap), because: gap.because },
    late: isLate,
    sentence: heldSentence(record, nowMs),
  };
}

export function showGap({ from, to }: { readonly from: bigint; readonly to: bigint }): HeldGap {
  return { from: String(from), to: String(to) };
}

const BECAUSE: Readonly<Record<string, string>> = {
  time: "nothing came in time",
  number: "too many events waited",
  restart: "the sequence began anew",
  operator: "an operator released what waited",
};

/** What a held event waits for, or what was decided of it. Pure. */
export function heldSentence({ hold, gap, isLate, sequence, key }: HeldRecord, nowMs: number): string {
  if (hold !== undefined) {
    const what =
      hold.missing === undefined
        ? "It waits behind others of its key that are held"
        : `It waits for ${rangeWords(hold.missing)} of ${key}`;
    return `${what}, for ${duration(nowMs - hold.since.getTime())}; ${endWords(hold.until, nowMs)}.`;
  }
  if (isLate) return `It came late: ${key} had gone on behind ${sequence} without it.`;
  if (gap !== undefined)
    return `It went on without ${rangeWords(gap)} of ${key}: ${BECAUSE[gap.because] ?? gap.because}.`;
  return `It had its turn as ${sequence} of ${key}.`;
}

/** When what is missing is given up. */
export function endWords(until: Date, nowMs: number): string {
  const leftMs = until.getTime() - nowMs;
  return leftMs > 0
    ? `given up in ${duration(leftMs)} at the latest`
    : "its time is up, and it goes on when a worker looks";
}

/** Sequences, as people read them. */
export function rangeWords({ from, to }: { readonly from: bigint; readonly to: bigint }): string {
  if (from === to) return `sequence ${from}`;
  return `sequences ${from} to ${to} (${count(to - from + 1n, "event")})`;
}
