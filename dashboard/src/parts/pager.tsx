import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { onKey } from "../keys.ts";
import { walkBy, walkPlace } from "../links.ts";

/** Where this page stands in the list that one came from; `j` and `k` lead to its neighbours. */
export function Pager(): JSX.Element | null {
  const at = walkPlace();
  const known = at !== undefined;
  useEffect(() => {
    if (!known) return undefined;
    const stops = [onKey("j", () => walkBy(1)), onKey("k", () => walkBy(-1))];
    return () => {
      for (const stop of stops) stop();
    };
  }, [known]);
  if (at === undefined) return null;
  return (
    <span class="pager small faint hide-s">
      <kbd>k</kbd>
      <kbd>j</kbd> {at.at} of {at.of}
    </span>
  );
}
