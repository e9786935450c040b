/** The drains that are under way. A stop ends them, too: the host closes its database after it. */
export class Drains<Run extends { stop(): void }> {
  readonly #underWay = new Map<Promise<Run>, Promise<unknown>>();

  async of<T>(begun: Promise<Run>, drain: (run: Run) => Promise<T>): Promise<T> {
    const ended = begun.then(drain);
    this.#underWay.set(begun, ended);
    try {
      return await ended;
    } finally {
      this.#underWay.delete(begun);
    }
  }

  /** Returns when all have ended, whatever came of them: their callers are told. */
  async stop(): Promise<void> {
    const stopped = [...this.#underWay].flatMap(([begun, ended]) => [begun.then((run) => run.stop()), ended]);
    await Promise.allSettled(stopped);
  }
}
