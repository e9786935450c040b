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

/**
 * How a case fails: by what it expects, by coming to no end in time, or by an error of something else, which is a bug of its
 * own kind or an accident.
 */
export interface Failure {
  readonly how: "expectation" | "lateness" | "error";
  readonly told: string;
}

/** A bug of a store, and the case that must go red because of it. */
export interface StoreMutant extends Planted {
  readonly database: DatabaseName;
  readonly caughtBy: { readonly suite: SuiteName; readonly case: string };
  /** How else the case fails with the bug than by what it expects: as lateness, or by an error that says this. */
  readonly shows?: "lateness" | RegExp;
}

/** How long a case may take: a bug may make it wait for ever. */
export const CASE_PATIENCE_MS = 30_000;

/** Whether a case has failed as the bug is to make it fail; any other failure may have come of a mistake in the edit. */
export function isRightFailure({ shows }: Pick<StoreMutant, "shows">, { how, told }: Failure): boolean {
  if (shows instanceof RegExp) return how === "error" && shows.test(told);
  return how === (shows ?? "expectation");
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
