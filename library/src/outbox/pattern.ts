/** Tells texts that match a pattern, in which `*` stands for any text, the empty one included. No regular expression: a pattern comes from users, and must not be able to take long. */
export type Matcher = (text: string) => boolean;

export function matcherOf(patterns: readonly string[]): Matcher {
  if (patterns.includes("*")) return () => true;
  const exact = new Set(patterns.filter((pattern) => !pattern.includes("*")));
  const globs = patterns.filter((pattern) => pattern.includes("*")).map((pattern) => pattern.split("*"));
  return (text) => exact.has(text) || globs.some((parts) => matches(parts, text));
}

/** Each part is looked for after the one before it: the first find is the best one, so nothing is tried twice. */
function matches(parts: readonly string[], text: string): boolean {
  const [first = "", ...rest] = parts;
  const last = rest.pop() ?? "";
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= end;
}
