/** The name that was probably meant; undefined where none is near. */
export function nearest(wanted: string, names: Iterable<string>): string | undefined {
  // If more than a third of the letters differ, a guess does not help.
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  let found: string | undefined;
  const plain = simplified(wanted);
  for (const name of names) {
    // `dataDir`, `data-dir` and `data_dir` are one name in three spellings.
    const distance = Math.min(editDistance(wanted, name), editDistance(plain, simplified(name)));
    if (distance >= least) continue;
    least = distance;
    found = name;
  }
  return found;
}

/** The number of letters to add, remove, change or swap with a neighbour. */
export function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const next = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      const swapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      next.push(
        Math.min(
          (last[column] ?? 0) + 1,
          (next[column - 1] ?? 0) + 1,
          (last[column - 1] ?? 0) + (same ? 0 : 1),
          swapped ? (before[column - 2] ?? 0) + 1 : Infinity,
        ),
      );
    }
    before = last;
    last = next;
  }
  return last[to.length] ?? 0;
}

function simplified(name: string): string {
  return name.replaceAll(/[-_\s]/g, "").toLowerCase();
}
