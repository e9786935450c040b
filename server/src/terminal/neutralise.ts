// What a sender, an endpoint or a server of somebody else wrote is shown on a person's terminal: an escape sequence in
// it could clear the screen, retitle the window or paste a command, and a bidi override could show another text.

/** Controls, format characters, surrogates, private use, unassigned, line separators, and letters that draw nothing. */
const HOSTILE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]/gu;
/** The joiner inside of one emoji, which is no trick. */
const JOINER = "\u200d";
const PICTOGRAPH_BEFORE = /\p{Extended_Pictographic}(\ufe0f|\p{Emoji_Modifier})?$/u;
const PICTOGRAPH_AFTER = /^\p{Extended_Pictographic}/u;
/** Marks pile up over the lines above: beyond what any script needs they are shown as escapes. */
const PILED = /(\p{M}{4})(\p{M}+)/gu;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Makes a text from outside safe for a terminal, on one line: what could act is shown as an escape. */
export function neutralise(text: string): string {
  return text
    .replaceAll(PILED, (_, kept: string, rest: string) => kept + Array.from(rest, escapeOf).join(""))
    .replaceAll(HOSTILE, (found, at: number, whole: string) => {
      if (found === JOINER && joinsPictographs(whole, at)) return found;
      return SHORT[found] ?? escapeOf(found);
    });
}

/** The same for a text of many lines: its line breaks stay, its tabs become spaces. */
export function neutraliseLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => neutralise(line.replaceAll("\t", "    ")))
    .join("\n");
}

/** JSON that says the same and that no terminal acts upon: `JSON.stringify` leaves DEL, C1 controls and bidi overrides. */
export function safeJson(value: unknown, indent?: number): string {
  // A value without a JSON form, such as undefined, becomes null: one document is promised.
  const text = JSON.stringify(value, undefined, indent) ?? "null";
  return text.replaceAll(HOSTILE, (found) => (found === "\n" ? found : jsonEscapeOf(found)));
}

function joinsPictographs(whole: string, at: number): boolean {
  return (
    PICTOGRAPH_BEFORE.test(whole.slice(Math.max(0, at - 4), at)) &&
    PICTOGRAPH_AFTER.test(whole.slice(at + 1, at + 3))
  );
}

function escapeOf(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  if (point <= 0xff) return `\\x${point.toString(16).padStart(2, "0")}`;
  return point <= 0xffff ? `\\u${point.toString(16).padStart(4, "0")}` : `\\u{${point.toString(16)}}`;
}

function jsonEscapeOf(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
