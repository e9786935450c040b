// Pages that stand empty are used again: a file that gives all of them back grows again with the next event.
const KEPT_FREE = 0.1;
// As many as are moved in a few milliseconds.
const MOST_PAGES = 256;

/** How many free pages of a file that may shrink are given back to the disk with one step. */
export function pagesToGiveBack({ pages, free }: { readonly pages: number; readonly free: number }): number {
  const surplus = Math.floor(free - pages * KEPT_FREE);
  return Math.min(MOST_PAGES, Math.max(0, surplus));
}
