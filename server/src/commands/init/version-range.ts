/** `latest` and the like count as newer than all. */
export function isAtLeast(version: string | undefined, [major, minor]: readonly [number, number]): boolean {
  const found = numbersOf(version);
  if (found === undefined) return true;
  return found.major > major || (found.major === major && found.minor >= minor);
}

/** The version that is written today, or the whole major of the project's own. */
export function sameMajor(found: string | undefined, newest: string): string {
  const major = numbersOf(found)?.major;
  return major === undefined || major === numbersOf(newest)?.major ? newest : `^${major}.0.0`;
}

/** The first two numbers of a version or of a range of versions. */
function numbersOf(version: string | undefined): { major: number; minor: number } | undefined {
  const found = /^[^\da-z]*v?(\d+)(?:\.(\d+))?/i.exec(version ?? "");
  return found === null ? undefined : { major: Number(found[1]), minor: Number(found[2] ?? 0) };
}
