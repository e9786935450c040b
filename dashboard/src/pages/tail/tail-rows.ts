import type { TailGap, TailMessage } from "posthorn/client";

/** The newest that a page keeps. */
export const KEPT = 500;

export type TailRow = (TailMessage | TailGap) & { readonly n: number };

/** Puts new rows before the others, newest first, and lets the oldest go. Pure. */
export function added(rows: readonly TailRow[], fresh: readonly TailRow[]): readonly TailRow[] {
  return [...fresh.toReversed(), ...rows].slice(0, KEPT);
}
