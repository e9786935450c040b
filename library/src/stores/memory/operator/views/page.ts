import type { Paged } from "../../../../operator/operator-store.js";

/** The cursor says where the last item stood, not which it was: the item may be gone when the next page is asked for. */
export function pageOf<T>(rest: readonly T[], limit: number, cursorOf: (last: T) => string): Paged<T> {
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return { items, next: last !== undefined && rest.length > limit ? cursorOf(last) : undefined };
}
