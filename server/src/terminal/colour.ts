/** The meaning of a text, which decides its colour. */
export type Tone = "plain" | "strong" | "faint" | "good" | "bad" | "warn" | "name";

export type Environment = Readonly<Record<string, string | undefined>>;

const CODES: Readonly<Record<Tone, readonly [start: string, end: string]>> = {
  plain: ["", ""],
  strong: ["\u001b[1m", "\u001b[22m"],
  faint: ["\u001b[2m", "\u001b[22m"],
  good: ["\u001b[32m", "\u001b[39m"],
  bad: ["\u001b[31m", "\u001b[39m"],
  warn: ["\u001b[33m", "\u001b[39m"],
  name: ["\u001b[36m", "\u001b[39m"],
};

/** Whether to colour: on a terminal, unless NO_COLOR is set; FORCE_COLOR overrides both. */
export function colourWanted(where: { readonly isTty: boolean; readonly environment: Environment }): boolean {
  const { NO_COLOR: no, FORCE_COLOR: force, TERM: term } = where.environment;
  if (force !== undefined && force !== "") return force !== "0" && force !== "false";
  if (no !== undefined && no !== "") return false;
  return where.isTty && term !== "dumb";
}

/** Colours a text that has been neutralised. */
export function paint(text: string, tone: Tone, colour: boolean): string {
  if (!colour || text === "") return text;
  const [start, end] = CODES[tone];
  return start + text + end;
}
