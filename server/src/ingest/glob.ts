/** A pattern in which `*` stands for any text; everything else stands for itself. */
export type Glob = (text: string) => boolean;

/** Made once and asked often. Without a regular expression, whose time a pattern of many stars could make endless. */
export function glob(pattern: string): Glob {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return (text) => text === pattern;
  const last = rest.pop() ?? "";
  return (text) => {
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
      return false;
    let at = first.length;
    const end = text.length - last.length;
    // The earliest place for each part leaves the most room for those after it.
    for (const part of rest) {
      const found = text.indexOf(part, at);
      if (found < 0 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}
