import { setTimeout as sleep } from "node:timers/promises";
import type { Chance } from "../chance.js";
import type { OutboxRun } from "./outbox-run.js";
import { KINDS, publish } from "./outbox-traffic.js";

// Enough to have lanes leased at every moment, and little enough for a busy machine to keep up with.
const PUBLISHERS = 4;
const PAUSE_MS = 50;

/** Publishes events of every kind until it is told to stop. */
export class OutboxLoad {
  readonly #run: OutboxRun;
  readonly #chance: Chance;
  readonly #publishers: Promise<void>[];
  #stopped = false;
  #begun = 0;
  #done = 0;

  constructor(run: OutboxRun, chance: Chance) {
    this.#run = run;
    this.#chance = chance;
    this.#publishers = Array.from({ length: PUBLISHERS }, () => this.#publish());
    // Told by `stop`; until then, a publisher that failed must not end the test's process.
    for (const publisher of this.#publishers) publisher.catch(() => undefined);
  }

  /** Waits until so many more were published. */
  async published(more: number): Promise<void> {
    const wanted = this.#done + more;
    while (this.#done < wanted && !this.#stopped) await sleep(5);
  }

  /** Waits until every publication has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#publishers);
  }

  async #publish(): Promise<void> {
    while (!this.#stopped) {
      const ref = `${this.#run.scope}-${++this.#begun}`;
      await publish(this.#run, this.#chance.pick(KINDS), { ref, chance: this.#chance });
      this.#done++;
      await sleep(this.#chance.below(PAUSE_MS));
    }
  }
}
