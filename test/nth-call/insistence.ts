import type { History } from "posthorn/testing";
import type { LATE, QuickClock } from "./quick-clock.js";
import { StoreCalls } from "./store-calls.js";
import type { Failure } from "./store-calls.js";

const MOST_TRIES = 40;
/** More than a lease, so that what nobody settles has been taken over. */
const PATIENCE_MS = 30_000;

/** What was to happen in the background has not happened. */
export class NotAtRest extends Error {
  override readonly name = "NotAtRest";
}

export interface InsistenceParts<Life> {
  readonly failure: Failure;
  readonly clock: QuickClock;
  readonly history: History;
  /** Makes a process; its stores are counted. */
  readonly begin: (calls: StoreCalls) => Life;
  /** Starts what a process does in the background. */
  readonly start: (life: Life) => Promise<unknown>;
}

/** Whoever wants something of a host of which one call to a store fails: they ask until it is done, and start it anew where it hangs. */
export class Insistence<Life> {
  readonly calls: StoreCalls;
  /** The call that failed. */
  failed: string | undefined;
  readonly #parts: InsistenceParts<Life>;
  #life: Life;
  #writers = 0;
  #hung = false;

  constructor(parts: InsistenceParts<Life>) {
    const { failure, begin } = parts;
    this.#parts = parts;
    this.calls = new StoreCalls(failure, (call) => {
      this.failed = call;
      this.#hung = failure.way === "hang";
      this.#fault(`${failure.way} of ${call}`);
    });
    this.#life = begin(this.calls);
  }

  /** Does something until it is done. Whoever waits in vain starts the process anew, and asks the new one. */
  async insist(step: (life: Life) => Promise<unknown>): Promise<void> {
    const { clock } = this.#parts;
    let last: unknown;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const done = step(this.#life).then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      last = await clock.within(done, PATIENCE_MS);
      if (last === undefined) return;
      if (this.#hung) await this.#restart();
      await clock.within(clock.sleep(500), 1000);
    }
    throw new Error(`it was not done in ${MOST_TRIES} tries`, { cause: last });
  }

  /** Waits for what goes on in the background. */
  async until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    const { clock } = this.#parts;
    for (let waitedMs = 0; waitedMs <= 4 * PATIENCE_MS; waitedMs += 500) {
      if (await isSo()) return;
      if (this.#hung && waitedMs >= PATIENCE_MS) await this.#restart();
      await clock.within(clock.sleep(500), 1000);
    }
    throw new NotAtRest(`it did not come so far that ${what}`);
  }

  /** What is promised, while somebody has patience: less than those who insist. */
  async answered<T>(asked: Promise<T>): Promise<T | typeof LATE> {
    return this.#parts.clock.within(asked, PATIENCE_MS / 2);
  }

  /** A pen for each try: one that hangs is never put down. */
  writer(who: string): () => ReturnType<History["writer"]> {
    return () => this.#parts.history.writer(`${who}-${++this.#writers}`);
  }

  /** The old process stays where it hangs; what it still does, it does beside the new one. */
  async #restart(): Promise<void> {
    const { begin, start, clock } = this.#parts;
    this.#hung = false;
    this.#fault("restart");
    this.#life = begin(this.calls);
    await clock.within(start(this.#life), PATIENCE_MS);
  }

  #fault(what: string): void {
    this.#parts.history.writer("tester").see("fault", { what });
  }
}
