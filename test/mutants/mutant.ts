/** The one text that is replaced by the other. */
export interface Edit {
  /** Must occur exactly once in the file: a refactoring that moves it tells. */
  readonly find: string;
  readonly replace: string;
}

/** A bug that is planted in the library's own source, in memory and never in the checkout. */
export interface Planted {
  readonly name: string;
  /** Below library/src. */
  readonly file: string;
  readonly edits: readonly Edit[];
}

export type DatabaseName = "sqlite" | "postgres";
export type SuiteName = "outbox" | "inbox" | "dedup" | "targeted";

/** A bug of a store, and the case that must go red because of it. */
export interface StoreMutant extends Planted {
  readonly database: DatabaseName;
  readonly caughtBy: { readonly suite: SuiteName; readonly case: string };
}

/** The source with the bug in it. Throws where an edit does not find its place, or finds two. */
export function plantedIn(source: string, { name, file, edits }: Planted): string {
  return edits.reduce((text, { find, replace }) => {
    const parts = text.split(find);
    if (parts.length !== 2)
      throw new Error(`${name}: ${file} has ${parts.length - 1} times, not once: ${find}`);
    return parts.join(replace);
  }, source);
}
