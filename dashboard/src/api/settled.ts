import { useEffect, useRef, useState } from "preact/hooks";

/** A list whose rows stay where they are while a person points at them. */
export interface Settled<T> {
  readonly rows: readonly T[];
  /** How many new ones wait above. */
  readonly fresh: number;
  /** Shows them. */
  show(): void;
  /** Put on the list's element, so that it is known whether the pointer is over it. */
  readonly hold: { onPointerEnter(): void; onPointerLeave(): void; onFocusIn(): void; onFocusOut(): void };
}

/**
 * Holds new rows back while the list is under the pointer or has the focus; what is shown is updated in its place. Another
 * `key` is another list.
 */
export function useSettled<T>(key: string, rows: readonly T[], idOf: (row: T) => string): Settled<T> {
  const [held, setHeld] = useState(false);
  const [, draw] = useState(0);
  const shown = useRef<{ readonly key: string; readonly rows: readonly T[] }>({ key, rows: [] });
  const before = shown.current.key === key ? shown.current.rows : [];
  const next = held ? arranged(before, rows, idOf) : { rows, fresh: 0 };
  useEffect(() => {
    shown.current = { key, rows: next.rows };
  });
  return {
    ...next,
    show: () => {
      shown.current = { key, rows };
      draw((n) => n + 1);
    },
    hold: {
      onPointerEnter: () => setHeld(true),
      onPointerLeave: () => setHeld(false),
      onFocusIn: () => setHeld(true),
      onFocusOut: () => setHeld(false),
    },
  };
}

/** The rows that are shown, as they are by now, with those at their end that came; the new ones at their head counted. */
export function arranged<T>(
  shown: readonly T[],
  rows: readonly T[],
  idOf: (row: T) => string,
): { readonly rows: readonly T[]; readonly fresh: number } {
  const last = shown.at(-1);
  if (last === undefined) return { rows, fresh: 0 };
  const byId = new Map(rows.map((row) => [idOf(row), row]));
  const kept = new Set(shown.map((row) => idOf(row)));
  const end = rows.findIndex((row) => idOf(row) === idOf(last));
  const after = end === -1 ? [] : rows.slice(end + 1).filter((row) => !kept.has(idOf(row)));
  const fresh = rows.filter((row) => !kept.has(idOf(row))).length - after.length;
  return { rows: [...shown.map((row) => byId.get(idOf(row)) ?? row), ...after], fresh };
}
