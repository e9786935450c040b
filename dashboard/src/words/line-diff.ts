/** One line of two texts side by side: in both, only in the first, or only in the second. */
export interface DiffLine {
  readonly kind: "same" | "del" | "add";
  readonly text: string;
}

// The table has the product of both lengths: beyond this it would stop the page.
const MOST_LINES = 1500;

/** What has to be taken out of one list of lines and added to it to make the other; undefined where they are too long to compare. */
export function lineDiff(
  before: readonly string[],
  after: readonly string[],
): readonly DiffLine[] | undefined {
  if (before.length > MOST_LINES || after.length > MOST_LINES) return undefined;
  const common = commonLengths(before, after);
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const [old, young] = [before[i], after[j]];
    if (old !== undefined && old === young) {
      lines.push({ kind: "same", text: old });
      i++;
      j++;
    } else if (young === undefined || (old !== undefined && at(common, i + 1, j) >= at(common, i, j + 1))) {
      lines.push({ kind: "del", text: old ?? "" });
      i++;
    } else {
      lines.push({ kind: "add", text: young });
      j++;
    }
  }
  return lines;
}

type Lengths = readonly Uint16Array[];

function at(common: Lengths, i: number, j: number): number {
  return common[i]?.[j] ?? 0;
}

/** How many lines the rests of both have in common, from each pair of places on. */
function commonLengths(before: readonly string[], after: readonly string[]): Lengths {
  const rows = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    const row = rows[i];
    for (let j = after.length - 1; j >= 0; j--) {
      const same = before[i] === after[j];
      if (row !== undefined)
        row[j] = same ? at(rows, i + 1, j + 1) + 1 : Math.max(at(rows, i + 1, j), at(rows, i, j + 1));
    }
  }
  return rows;
}
