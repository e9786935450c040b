const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });

const PLAIN = /^[\x20-\x7e]*$/;
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Mc}\p{Cf}\p{Cc}]$/u;
const WIDE_EMOJI =
  /^(\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|\p{Regional_Indicator}{2}|[#*0-9]\ufe0f\u20e3)/u;

/** First and last code points of blocks that take two columns. */
const WIDE: readonly (readonly [first: number, last: number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f2ff],
  [0x20000, 0x3fffd],
];

/** How many columns a text takes, escapes of colour not allowed for. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** The text in at most so many columns; where something is left out, `…` stands in the last one. */
export function cutToWidth(text: string, most: number): string {
  if (displayWidth(text) <= most) return text;
  if (most <= 0) return "";
  let kept = "";
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) {
    width += graphemeWidth(segment);
    if (width > most - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Fills a text up to so many columns. */
export function padToWidth(text: string, width: number, side: "left" | "right"): string {
  const gap = " ".repeat(Math.max(0, width - displayWidth(text)));
  return side === "right" ? gap + text : text + gap;
}

/** What a reader sees as one character takes two columns at most, however many code points it is made of. */
function graphemeWidth(grapheme: string): number {
  if (WIDE_EMOJI.test(grapheme)) return 2;
  let width = 0;
  for (const character of grapheme) width += characterWidth(character);
  return Math.min(2, width);
}

function characterWidth(character: string): number {
  if (NO_WIDTH.test(character)) return 0;
  const point = character.codePointAt(0) ?? 0;
  return WIDE.some(([first, last]) => point >= first && point <= last) ? 2 : 1;
}
