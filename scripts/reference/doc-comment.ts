import type { Comment } from "oxc-parser";

/** What stands in a doc comment, as a page shows it. */
export interface DocComment {
  readonly prose: string;
  /** Code, without its fence. */
  readonly examples: readonly string[];
}

/** The doc comment that stands directly before an offset; undefined where there is none. */
export function docBefore(
  text: string,
  comments: readonly Comment[],
  offset: number,
): DocComment | undefined {
  const found = comments.find(
    ({ type, value, end }) =>
      type === "Block" && value.startsWith("*") && end <= offset && text.slice(end, offset).trim() === "",
  );
  return found && parseDoc(found.value);
}

/** Reads the inside of a doc comment. */
export function parseDoc(value: string): DocComment {
  const lines = value
    .replace(/^\*/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""));
  const [before = "", ...examples] = lines.join("\n").split(/^@example\s*$/m);
  const prose = before.replaceAll(/^@module\s*$/gm, "").replaceAll(/\{@link (\w+)\}/g, "`$1`");
  return { prose: prose.trim(), examples: examples.map((each) => each.trim()) };
}
