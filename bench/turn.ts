import type { Turn } from "./figures.js";
import { timeLoad } from "./load.js";
import { calibrate, timeLoop } from "./loop.js";
import type { Case, LoadCase, LoopCase } from "./suite.js";
import { timeWork, warmWork } from "./work.js";

/** Part of a loop's turn that runs untimed first, to refill the caches that the case before it emptied. */
const LEAD_IN = 0.1;

/** One case made ready: warm, and with its batch size found once, so that every round takes like samples. */
export class Runner {
  readonly measured: Case;
  readonly turns: Turn[] = [];
  #batch = 1;

  constructor(measured: Case) {
    this.measured = measured;
  }

  async warmUp(warmupMs: number): Promise<void> {
    if (this.measured.kind === "work") await warmWork(this.measured, warmupMs);
    else await this.#warm(this.measured, warmupMs);
    this.measured.warmedUp?.();
  }

  async #warm(measured: LoadCase | LoopCase, warmupMs: number): Promise<void> {
    await measured.beforeTurn?.();
    if (measured.kind === "load") {
      await timeLoad(measured, warmupMs);
    } else {
      const run = measured.run.bind(measured);
      timeLoop(run, 1, warmupMs);
      this.#batch = calibrate(run);
    }
    await measured.afterTurn?.();
  }

  async takeTurn(turnMs: number): Promise<void> {
    await this.measured.beforeTurn?.();
    this.turns.push(await this.#time(turnMs));
    await this.measured.afterTurn?.();
  }

  async #time(turnMs: number): Promise<Turn> {
    if (this.measured.kind === "load") {
      collectYoung();
      return timeLoad(this.measured, turnMs);
    }
    if (this.measured.kind === "work") {
      collectYoung();
      return timeWork(this.measured);
    }
    const run = this.measured.run.bind(this.measured);
    timeLoop(run, this.#batch, turnMs * LEAD_IN);
    collectYoung();
    const turn = timeLoop(run, this.#batch, turnMs);
    // A short turn may end before its garbage is collected: the next case would pay for it, or nobody.
    return { ...turn, elapsedMs: turn.elapsedMs + collectYoung() };
  }
}

/**
 * Collects the young generation and says how long that took, in ms; 0 without --expose-gc. Never the whole heap:
 * that throws away compiled code, and candidates that are much JavaScript came out up to twice as slow.
 */
function collectYoung(): number {
  const startedAt = performance.now();
  globalThis.gc?.({ type: "minor" });
  return performance.now() - startedAt;
}
