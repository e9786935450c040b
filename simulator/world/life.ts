import type { Clock } from "../../library/src/clock.js";
import type { StopSignal } from "../../library/src/stop-signal.js";
import type { Random } from "./random.js";
import type { Scheduler } from "./scheduler.js";

/** How far a node's clocks are off. They belong to the machine, and survive its processes. */
export interface ClockError {
  /** Of the wall clock, in milliseconds. */
  skewMs: number;
  /** How fast its time passes: 1.02 gains 2%. */
  readonly rate: number;
}

/** Code of a dead process that awaits this waits for ever, as it should. A new promise each: a shared one would keep all waiters in memory. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** When runs begin, by a clock that is right. */
export const BEGINNING: number = Date.UTC(2030, 0, 1);

/**
 * One life of a process, from its start to its crash. All that it awaits comes through here, so that nothing of it
 * goes on after its end, and nothing while it is stopped.
 */
export class Life implements Clock {
  readonly #scheduler: Scheduler;
  readonly #error: ClockError;
  readonly #random: Random;
  readonly #waiting: (() => void)[] = [];
  readonly #atEnd: (() => void)[] = [];
  #alive = true;
  #stopped = false;

  constructor(scheduler: Scheduler, error: ClockError, random: Random) {
    this.#scheduler = scheduler;
    this.#error = error;
    this.#random = random;
  }

  get isAlive(): boolean {
    return this.#alive;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** Chance of this process's own. */
  get random(): Random {
    return this.#random;
  }

  now(): number {
    return Math.floor(BEGINNING + this.#scheduler.now + this.#error.skewMs);
  }

  monotonic(): number {
    return this.#scheduler.now * this.#error.rate;
  }

  sleep(ms: number, signal?: StopSignal): Promise<void> {
    if (!this.#alive) return never();
    if (signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        planned.action = undefined;
        signal?.removeEventListener("abort", wake);
        if (this.#alive) resolve();
      };
      const planned = this.after(ms / this.#error.rate, wake);
      signal?.addEventListener("abort", wake);
    });
  }

  soon(work: () => void): void {
    this.#scheduler.soon(work);
  }

  /** Lets something happen to this process later; never after its end, and not while it is stopped. */
  after(ms: number, action: () => void): { action: (() => void) | undefined } {
    return this.#scheduler.after(ms, () => this.do(action));
  }

  /** The same, now. */
  do(action: () => void): void {
    if (!this.#alive) return;
    if (this.#stopped) {
      this.#waiting.push(action);
      return;
    }
    this.#scheduler.woke();
    action();
  }

  /** A promise that is settled through this life alone. What a dead process asks is never asked. */
  ask<T>(begin: (resolve: (value: T) => void, reject: (error: Error) => void) => void): Promise<T> {
    return this.#alive ? new Promise(begin) : never();
  }

  /** As SIGSTOP does: time passes, and this process does not. */
  stop(): void {
    this.#stopped = true;
  }

  goOn(): void {
    this.#stopped = false;
    for (const action of this.#waiting.splice(0)) this.after(0, action);
  }

  /** As `kill -9` does. */
  end(): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#waiting.length = 0;
    for (const action of this.#atEnd.splice(0)) action();
  }

  /** For what the other side of a connection notices. */
  whenEnded(action: () => void): void {
    this.#atEnd.push(action);
  }
}
