import type { Gap, HoldMark } from "../hold-mark.js";
import type { Signal } from "../observer.js";

interface KeyName {
  readonly tenant: string;
  readonly source: string;
  readonly key: string;
}

/** Says that a gap was given up, and before which event; undefined where there was none. */
export function gapSignal(
  { tenant, source, key }: KeyName,
  id: string,
  gap: Gap | undefined,
): Signal | undefined {
  if (gap === undefined) return undefined;
  const { from, to, because } = gap;
  return { kind: "gap_given_up", tenant, source, key, from: String(from), to: String(to), because, id };
}

/** Says that an event came after its place had been passed. */
export function lateSignal({ tenant, source, key }: KeyName, id: string, { sequence }: HoldMark): Signal {
  return { kind: "event_late", tenant, source, key, sequence: String(sequence), id };
}
