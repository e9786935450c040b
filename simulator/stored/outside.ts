import type { Life } from "../world/life.js";
import type { RunLog } from "../world/run-log.js";
import type { Scheduler } from "../world/scheduler.js";
import type { OfStep } from "./sightings.js";

const HOPS_MS = [2, 12] as const;

/** The other side of the steps of long handlers: it does what it is asked, again where it is asked again, and forgets nothing. */
export class Outside {
  readonly #scheduler: Scheduler;
  readonly #log: RunLog;
  readonly #effects = new Map<string, string>();
  #done = 0;

  constructor(scheduler: Scheduler, log: RunLog) {
    this.#scheduler = scheduler;
    this.#log = log;
  }

  /** What came of a step; undefined where nothing did. */
  find(life: Life, idem: string): Promise<string | undefined> {
    this.#log.count("step.checked");
    return this.#asked(life, () => {
      const found = this.#effects.get(idem);
      if (found !== undefined) this.#log.count("step.found");
      return found;
    });
  }

  /** Does it; `done` is told at once, and whoever has asked when the answer comes. */
  act(life: Life, step: OfStep, done: () => void): Promise<string> {
    return this.#asked(life, () => {
      const effect = `effect ${++this.#done}`;
      if (!this.#effects.has(step.idem)) this.#effects.set(step.idem, effect);
      this.#log.count("step.acted");
      this.#log.add({ kind: "acted", ...step, effect });
      done();
      return effect;
    });
  }

  /** A request that has left its process arrives, whatever becomes of that process. */
  #asked<T>(life: Life, answer: () => T): Promise<T> {
    const hop = (): number => HOPS_MS[0] + (HOPS_MS[1] - HOPS_MS[0]) * life.random.next();
    const [thereMs, backMs] = [hop(), hop()];
    return life.ask((resolve) => {
      this.#scheduler.after(thereMs, () => {
        const said = answer();
        life.after(backMs, () => resolve(said));
      });
    });
  }
}
