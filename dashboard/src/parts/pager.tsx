import type { JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { onKey } from "../shell/keys.ts";
import { walkBy, walkPlace } from "../place/links.ts";

/** `j` and `k` lead to the neighbours in the list that one came from. From the first moment: a page still loads when somebody walks on. */
export function useWalkKeys(): void {
  const known = walkPlace() !== undefined;
  useLayoutEffect(() => {
    if (!known) return undefined;
    const stops = [onKey("j", () => walkBy(1)), onKey("k", () => walkBy(-1))];
    return () => {
      for (const stop of stops) stop();
    };
  }, [known]);
}

/** Where this page stands in that list. */
export function Pager(): JSX.Element | null {
  const at = walkPlace();
  if (at === undefined) return null;
  return (
    <span class="pager small faint hide-s">
      <kbd>k</kbd>
      <kbd>j</kbd> {at.at} of {at.of}
    </span>
  );
}
