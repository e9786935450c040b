import type { ComponentChildren, JSX } from "preact";
import { Clock } from "../../parts/time.tsx";
import { duration } from "../../words/format.ts";

interface PointProps {
  readonly icon: ComponentChildren;
  readonly what: ComponentChildren;
  readonly note?: ComponentChildren;
  /** When it happened; null where that is not known, or has not come yet. */
  readonly at: string | null;
  /** How long after the point before it; left out at the first. */
  readonly gapMs?: number | undefined;
  /** What stands beside the time between the points. */
  readonly gapWords?: string;
  /** It has not happened yet: drawn hollow. */
  readonly future?: boolean;
  /** It is the one that is looked at. */
  readonly on?: boolean;
  readonly last?: boolean;
}

/** One point of a timeline. The time since the point before it stands on the line between them. */
export function Point(props: PointProps): JSX.Element {
  const { icon, what, note, at, gapMs, gapWords = "", future = false, on = false, last = false } = props;
  return (
    <>
      {gapMs !== undefined && (
        <li class="gap">
          <span>
            +{duration(Math.max(0, gapMs))}
            {gapWords}
          </span>
        </li>
      )}
      <li class={`${future ? "future" : ""} ${on ? "on" : ""} ${last ? "end" : ""}`}>
        <span class="dot">{icon}</span>
        <span class="what">
          {what}
          {note !== undefined && note !== "" && <span class="note">{note}</span>}
        </span>
        {at === null ? <span class="t" /> : <Clock at={at} />}
      </li>
    </>
  );
}

/** What has not come yet. */
export const RING: JSX.Element = <span class="ring" />;

/** How long after one point another one came; undefined where one of the times is not known. */
export function gapOf(
  before: string | null | undefined,
  after: string | null,
  lastedMs = 0,
): number | undefined {
  if (before === null || before === undefined || after === null) return undefined;
  return Math.max(0, Date.parse(after) - Date.parse(before) - lastedMs);
}
