import { paint } from "./colour.js";
import type { Tone } from "./colour.js";
import { neutralise } from "./neutralise.js";
import { cutToWidth, displayWidth, padToWidth } from "./width.js";

/** A text with a tone. It may come from outside: drawing neutralises it. */
export type Piece = string | number | { readonly text: string; readonly tone: Tone };

export interface Column {
  readonly title: string;
  /** @default "left" */
  readonly align?: "left" | "right";
  /** The least width on a narrow terminal. Left out, the column is never cut: an id is there to be copied. */
  readonly least?: number;
}

export interface Table {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Piece[])[];
  /** Leaves out the titles, to continue a table. @default false */
  readonly headless?: boolean;
}

/** Where a table is drawn. */
export interface Canvas {
  /** Undefined: nothing is cut. */
  readonly width: number | undefined;
  readonly colour: boolean;
}

const GAP = "  ";

/** Draws a table; one field per line where it would not fit even with every column cut. */
export function drawTable(table: Table, canvas: Canvas): string {
  const cells = table.rows.map((row) => row.map(cellOf));
  const natural = table.columns.map(({ title }, index) =>
    Math.max(displayWidth(title), ...cells.map((row) => displayWidth(row[index]?.text ?? ""))),
  );
  const widths = fit(table.columns, natural, canvas.width);
  if (widths === undefined) return drawStacked(table.columns, cells, canvas);
  const heads = table.columns.map(({ title }): Cell => ({ text: title, tone: "faint" }));
  return [...(table.headless === true ? [] : [heads]), ...cells]
    .map((row) => drawRow(row, table.columns, widths, canvas))
    .join("");
}

interface Cell {
  readonly text: string;
  readonly tone: Tone;
}

/** The safe form of a piece. */
export function cellOf(piece: Piece): Cell {
  if (typeof piece === "object") return { text: neutralise(piece.text), tone: piece.tone };
  return { text: neutralise(String(piece)), tone: "plain" };
}

/** Narrows the widest columns that may be cut; undefined where that is not enough. */
function fit(
  columns: readonly Column[],
  natural: readonly number[],
  width: number | undefined,
): readonly number[] | undefined {
  const widths = [...natural];
  if (width === undefined) return widths;
  let over = widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1)) - width;
  while (over > 0) {
    const widest = widestToCut(columns, widths);
    if (widest === undefined) return undefined;
    widths[widest] = (widths[widest] ?? 0) - 1;
    over--;
  }
  return widths;
}

function widestToCut(columns: readonly Column[], widths: readonly number[]): number | undefined {
  let found: number | undefined;
  for (const [index, { least }] of columns.entries()) {
    const width = widths[index] ?? 0;
    if (least === undefined || width <= least) continue;
    if (found === undefined || width > (widths[found] ?? 0)) found = index;
  }
  return found;
}

function drawRow(
  row: readonly Cell[],
  columns: readonly Column[],
  widths: readonly number[],
  canvas: Canvas,
): string {
  const texts = columns.map(({ align = "left" }, index) => {
    const { text, tone } = row[index] ?? { text: "", tone: "plain" };
    const width = widths[index] ?? 0;
    const cut = cutToWidth(text, width);
    // The last column is not padded: trailing blanks would wrap in a narrower window.
    const isLast = index === columns.length - 1 && align === "left";
    const gap = isLast ? "" : padToWidth("", width - displayWidth(cut), "left");
    const painted = paint(cut, tone, canvas.colour);
    return align === "right" ? gap + painted : painted + gap;
  });
  return `${texts.join(GAP).trimEnd()}\n`;
}

function drawStacked(columns: readonly Column[], rows: readonly (readonly Cell[])[], canvas: Canvas): string {
  return rows
    .map((row) =>
      drawFacts(
        columns.map(({ title }, index) => [title, row[index] ?? ""] as const),
        canvas,
      ),
    )
    .join("\n");
}

/** Names and values, one pair per line, the values below each other. Values are never cut: they wrap. */
export function drawFacts(facts: readonly (readonly [name: string, value: Piece])[], canvas: Canvas): string {
  // A name may come from outside too: that of a header, for instance.
  const names = facts.map(([name]) => neutralise(name));
  const width = Math.max(0, ...names.map(displayWidth));
  return facts
    .map(([, value], index) => {
      const { text, tone } = cellOf(value);
      const label = paint(padToWidth(names[index] ?? "", width, "left"), "faint", canvas.colour);
      return `${label}${GAP}${paint(text, tone, canvas.colour)}`.trimEnd() + "\n";
    })
    .join("");
}
