import type { Chance } from "../chance.js";
import type { Letter } from "./letter.js";
import { dedupLetter, letterOf } from "./letter.js";
import type { Delivery } from "./provider.js";
import type { Run } from "./run.js";

/** Which events come: a mix for the receiver, or for the host's own transactions with dedup. */
export type Workload = "receiver" | "dedup";

const SENDERS = 8;

/** Sends events without a pause until it is told to stop; then sends until all are acknowledged. */
export class Load {
  readonly #run: Run;
  readonly #chance: Chance;
  readonly #workload: Workload;
  readonly #senders: Promise<void>[];
  #stopped = false;
  #sent = 0;

  constructor(run: Run, workload: Workload, chance: Chance) {
    this.#run = run;
    this.#chance = chance;
    this.#workload = workload;
    this.#senders = Array.from({ length: SENDERS }, () => this.#send());
    // Told by `drain`; until then, a sender that failed must not end the test's process.
    for (const sender of this.#senders) sender.catch(() => undefined);
  }

  /** How many events were sent so far. */
  get sent(): number {
    return this.#sent;
  }

  /** Waits until every event that was sent is acknowledged. */
  async drain(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#senders);
  }

  async #send(): Promise<void> {
    while (!this.#stopped) {
      const letter = this.#next();
      const deliveries: readonly Delivery[] = await this.#run.provider.deliver(letter);
      // Providers send some events again though they were acknowledged.
      if (this.#chance.below(4) === 0 && deliveries.length > 0) await this.#run.provider.deliver(letter);
    }
  }

  #next(): Letter {
    const id = `${this.#run.scope}-${this.#workload}${++this.#sent}`;
    if (this.#workload === "dedup") return dedupLetter(id, this.#chance);
    return letterOf(id, this.#chance.pick(["counted", "counted", "quiet", "flaky"]), this.#chance);
  }
}
