/** The names of the options that something takes: the compiler keeps them equal to its type. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/**
 * What is wrong with options of which one is misspelt; undefined where all are known. Passed over, a misspelt option would cost
 * what it asks for, without a word: `keys` in place of `key` costs the order of all events.
 */
export function unknownOption(of: string, given: unknown, known: Readonly<object>): string | undefined {
  // A text or a list in the place of options is refused by their own check, which says what is expected.
  if (typeof given !== "object" || given === null || Array.isArray(given)) return undefined;
  const unknown = Object.entries(given).find(
    ([name, value]) => value !== undefined && !Object.hasOwn(known, name),
  )?.[0];
  if (unknown === undefined) return undefined;
  const names = Object.keys(known);
  const meant = nearest(unknown, names);
  const mended = meant === undefined ? `expected one of ${names.join(", ")}.` : `did you mean "${meant}"?`;
  return `${JSON.stringify(unknown.slice(0, 80))} is no option of ${of}; ${mended}`;
}

// Of the letters of both; where less is alike, a guess does not help.
const ALIKE = 0.6;

function nearest(wanted: string, names: readonly string[]): string | undefined {
  let [found, most]: [string | undefined, number] = [undefined, ALIKE];
  for (const name of names) {
    const alike =
      (2 * commonLetters(wanted.toLowerCase(), name.toLowerCase())) / (wanted.length + name.length);
    if (alike > most) [found, most] = [name, alike];
  }
  return found;
}

/** How many letters both have, in the same order. */
function commonLetters(one: string, other: string): number {
  let before = Array.from({ length: other.length + 1 }, () => 0);
  for (const letter of one.slice(0, 80)) {
    const row = [0];
    for (let n = 0; n < other.length; n++)
      row.push(other[n] === letter ? (before[n] ?? 0) + 1 : Math.max(row[n] ?? 0, before[n + 1] ?? 0));
    before = row;
  }
  return before[other.length] ?? 0;
}
