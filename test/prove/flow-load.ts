import { setTimeout as sleep } from "node:timers/promises";
import type { Chance } from "../chance.js";
import type { Kind, Publishing } from "../crash/outbox-traffic.js";
import { publish } from "../crash/outbox-traffic.js";

export interface LoadOptions {
  readonly scope: string;
  readonly chance: Chance;
  readonly kinds?: readonly Kind[];
  /** How many publish at once. */
  readonly publishers?: number;
  /** The longest pause of each. */
  readonly pauseMs?: number;
}

/** Half of them come in by the receiver and go out in its transaction. */
const MIX: readonly Kind[] = [
  ...Array.from({ length: 8 }, () => "relay" as const),
  ...(["beside", "given", "alone", "alone_given", "rolled_back", "later", "fleeting", "line"] as const),
];

// Leases of killed workers end seconds later: there must be other lanes that move meanwhile.
const KEYS = 150;
const PATIENCE_MS = 60_000;

/** Publishes without end, until it is told to stop. */
export class FlowLoad {
  readonly #flow: Publishing;
  readonly #options: Required<LoadOptions>;
  readonly #publishers: Promise<void>[];
  #stopped = false;
  #begun = 0;
  #done = 0;
  /** How many publications are not answered yet. */
  underWay = 0;

  constructor(flow: Publishing, options: LoadOptions) {
    this.#flow = flow;
    this.#options = { kinds: MIX, publishers: 6, pauseMs: 30, ...options };
    this.#publishers = Array.from({ length: this.#options.publishers }, () => this.#publish());
    // Told by `stop`; until then, a publisher that failed must not end the process.
    for (const publisher of this.#publishers) publisher.catch(() => undefined);
  }

  /** How many publications have ended. */
  get done(): number {
    return this.#done;
  }

  /** Waits until so many more have ended; throws where that takes too long. */
  async published(more: number): Promise<void> {
    const wanted = this.#done + more;
    const endsAt = performance.now() + PATIENCE_MS;
    while (this.#done < wanted && !this.#stopped) {
      if (performance.now() > endsAt) throw new Error(`no ${more} publications ended in ${PATIENCE_MS} ms`);
      await sleep(3);
    }
  }

  /** Waits until every publication has ended; throws where one never did. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#publishers);
  }

  async #publish(): Promise<void> {
    const { chance, kinds, scope, pauseMs } = this.#options;
    while (!this.#stopped) {
      const ref = `${scope}-${++this.#begun}`;
      const key = chance.below(8) === 0 ? "" : `k${chance.below(KEYS)}`;
      this.underWay++;
      await publish(this.#flow, chance.pick(kinds), { ref, chance, key });
      this.underWay--;
      this.#done++;
      await sleep(chance.below(pauseMs));
    }
  }
}
