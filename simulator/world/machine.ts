import type { Database } from "./database.js";
import { Life } from "./life.js";
import type { ClockError } from "./life.js";
import { Line } from "./line.js";
import { streamOf } from "./random.js";
import type { RunLog } from "./run-log.js";
import type { Who } from "./who.js";
import type { Scheduler } from "./scheduler.js";
import type { StoreFault } from "../script/script.js";

export interface MachineParts {
  readonly seed: number;
  readonly scheduler: Scheduler;
  readonly log: RunLog;
  readonly database: Database;
}

/** What each process of a machine has of its own. */
export interface Process {
  readonly life: Life;
  readonly line: Line;
  readonly who: Who;
}

/** A machine with one process on it at a time. Its clocks and the faults that wait for its calls survive its processes. */
export class Machine<Running extends { readonly life: Life }> {
  readonly index: number;
  readonly #parts: MachineParts;
  readonly #clock: ClockError;
  readonly #storeFaults: { readonly call: string; readonly how: StoreFault }[] = [];
  #lives = 0;
  #running: Running | undefined;

  constructor(index: number, { skewMs, rate }: ClockError, parts: MachineParts) {
    this.index = index;
    this.#clock = { skewMs, rate };
    this.#parts = parts;
  }

  /** Undefined while no process runs. */
  get running(): Running | undefined {
    return this.#running;
  }

  /** Starts a process; undefined where one runs. */
  start(begin: (process: Process) => Running): Running | undefined {
    if (this.#running !== undefined) return undefined;
    const { seed, scheduler, log, database } = this.#parts;
    const life = new Life(scheduler, this.#clock, streamOf(seed, this.index * 100 + ++this.#lives));
    const who = { node: this.index, life: this.#lives };
    const faultOf = (call: string): StoreFault | undefined => this.#takeStoreFault(call);
    const line = new Line({ scheduler, log, database, life, faultOf });
    this.#running = begin({ life, line, who });
    scheduler.woke();
    return this.#running;
  }

  /** Ends the process at once. */
  crash(): void {
    this.#running?.life.end();
    this.#running = undefined;
  }

  armStore(call: string, how: StoreFault): void {
    this.#storeFaults.push({ call, how });
  }

  turnClock(byMs: number): void {
    this.#clock.skewMs += byMs;
  }

  /** Nothing is wrong with it any more; a process that was stopped is still so. */
  heal(): void {
    this.#storeFaults.length = 0;
    this.#clock.skewMs = 0;
  }

  #takeStoreFault(call: string): StoreFault | undefined {
    if (this.#storeFaults.length === 0) return undefined;
    const index = this.#storeFaults.findIndex((fault) => fault.call === call || fault.call === "any");
    return index === -1 ? undefined : this.#storeFaults.splice(index, 1)[0]?.how;
  }
}
