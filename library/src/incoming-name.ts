/**
 * The name of an event by the id that its sender gave it, in its stored form: its next delivery is a duplicate. The word between
 * the slashes keeps the kinds apart: an id that looks like a hash is no hash.
 */
export function nameOfId(source: string, storedId: string): string {
  return `${source}/id/${storedId}`;
}
