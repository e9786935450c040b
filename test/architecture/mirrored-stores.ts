/** Of the files of one store, those that another store has under the same name. */
export interface Mirror {
  readonly share: number;
  /** What the second store does not have. */
  readonly missing: readonly string[];
}

const STORES = "library/src/stores/";

/** Compares two databases' folders by the names of their source files. */
export function mirrorOf(paths: readonly string[], of: string, by: string): Mirror {
  const mirrored = new Set(sourcesOf(paths, by));
  const sources = sourcesOf(paths, of);
  const missing = sources.filter((path) => !mirrored.has(path));
  return { share: sources.length === 0 ? 0 : 1 - missing.length / sources.length, missing };
}

function sourcesOf(paths: readonly string[], store: string): string[] {
  const root = `${STORES}${store}/`;
  return paths
    .filter((path) => path.startsWith(root) && !path.endsWith(".test.ts"))
    .map((path) => path.slice(root.length));
}
