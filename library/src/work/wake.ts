/**
 * Says that there may be work, so that nobody has to ask again and again. A hint alone: it may be lost, and polling
 * finds what it would have told.
 */
export class Wake {
  readonly #listeners = new Set<(hint: Hint) => void>();

  ring(hint: Hint): void {
    for (const listener of this.#listeners) listener(hint);
  }

  /** Returns what takes the listener off again. */
  listen(listener: (hint: Hint) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** `committed`: there is work. `written`: there will be, as soon as a transaction of the host commits, which nobody here sees. */
export type Hint = "committed" | "written";
