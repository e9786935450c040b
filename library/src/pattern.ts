/** Tells texts that match a pattern, in which `*` stands for any text, the empty one included. */
export type Matcher = (text: string) => boolean;

/** Made once and asked often. Without a regular expression: a pattern comes from users, and must not be able to take long. */
export function matcherOf(patterns: readonly string[]): Matcher {
  if (patterns.includes("*")) return () => true;
  const exact = new Set(patterns.filter((pattern) => !pattern.includes("*")));
  const globs = patterns.filter((pattern) => pattern.includes("*")).map(glob);
  return (text) => exact.has(text) || globs.some((matches) => matches(text));
}

function glob(pattern: string): Matcher {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop() ?? "";
  return (text) => {
    const end = text.length - last.length;
    let at = first.length;
    if (at > end || !text.startsWith(first) || !text.endsWith(last)) return false;
    // The earliest find of each part leaves the most room for those after it, so that nothing is tried twice.
    for (const part of rest) {
      const found = text.indexOf(part, at);
      if (found < 0 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}
