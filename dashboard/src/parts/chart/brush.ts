import { useState } from "preact/hooks";

/** What is dragged over, as steps: from the first to the last, both included. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

interface Steps {
  /** The start of each step. */
  readonly times: readonly number[];
  readonly stepMs: number;
  readonly onZoom: (fromMs: number, toMs: number) => void;
}

interface Brush {
  /** The step that the pointer or the keyboard is at. */
  readonly at: number | undefined;
  readonly drag: Span | undefined;
  /** Put on the element that is dragged over. */
  readonly hold: Readonly<Record<`on${string}`, (event: never) => void>>;
}

/** Marks a part of the time with the pointer, or with shift and the arrows, and zooms into it. */
export function useBrush({ times, stepMs, onZoom }: Steps): Brush {
  const [at, setAt] = useState<number | undefined>();
  const [drag, setDrag] = useState<Span | undefined>();
  const last = times.length - 1;
  const within = (step: number): number => Math.min(last, Math.max(0, step));
  const stepOf = (event: PointerEvent): number => {
    const { left, width } = (event.currentTarget as Element).getBoundingClientRect();
    return width === 0 ? 0 : within(Math.floor(((event.clientX - left) / width) * times.length));
  };
  const drop = (): void => {
    setDrag(undefined);
    if (drag === undefined || drag.from === drag.to) return;
    const [first, end] = drag.from < drag.to ? [drag.from, drag.to] : [drag.to, drag.from];
    onZoom(times[first] ?? 0, (times[end] ?? 0) + stepMs);
  };
  const walk = (step: number, marks: boolean): void => {
    const before = at ?? last;
    const next = within(before + step);
    setAt(next);
    setDrag(marks ? { from: drag?.from ?? before, to: next } : undefined);
  };
  return {
    at,
    drag,
    hold: {
      onPointerDown: (event: PointerEvent) => {
        // Without the capture, a drag that leaves the chart would never end.
        (event.currentTarget as Element).setPointerCapture(event.pointerId);
        const step = stepOf(event);
        setDrag({ from: step, to: step });
      },
      onPointerMove: (event: PointerEvent) => {
        const step = stepOf(event);
        setAt(step);
        if (drag !== undefined) setDrag({ ...drag, to: step });
      },
      onPointerUp: drop,
      onPointerLeave: () => {
        if (drag === undefined) setAt(undefined);
      },
      onBlur: () => setAt(undefined),
      onKeyDown: (event: KeyboardEvent) => {
        if (event.key === "Enter") drop();
        else if (event.key === "Escape") setDrag(undefined);
        else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
          event.preventDefault();
          walk(event.key === "ArrowLeft" ? -1 : 1, event.shiftKey);
        }
      },
    },
  };
}
