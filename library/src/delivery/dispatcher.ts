import type { DeliveryStore } from "./delivery-store.js";
import { checkDispatcher } from "./dispatcher-options.js";
import type { DispatcherOptions, DispatcherSettings } from "./dispatcher-options.js";
import { Dispatching } from "./dispatching.js";
import type { DrainLimits, DrainReport } from "./dispatching.js";
import type { Egress } from "./egress/egress.js";
import { createEgress } from "./egress/create-egress.js";

/** Delivers what was published. */
export interface Dispatcher {
  /** Begins to deliver, in the background, until `stop`. Resolves when it has begun; throws where it cannot. */
  start(): Promise<void>;
  /** Finishes what is under way and hands everything else over at once: nothing is sent twice because of it. */
  stop(): Promise<void>;
  /** Delivers what is due and returns: for cron and serverless functions. */
  drain(limits?: DrainLimits): Promise<DrainReport>;
}

/**
 * Makes a dispatcher: it delivers what the sender of the same store has published.
 *
 * @example
 * const store = postgresStore({ client: pool });
 * const dispatcher = createDispatcher({ store });
 * await dispatcher.start();
 * process.once("SIGTERM", () => void dispatcher.stop());
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new OutboxDispatcher(options);
}

interface Running {
  readonly dispatching: Dispatching;
  readonly egress: Egress;
}

class OutboxDispatcher implements Dispatcher {
  readonly #store: DeliveryStore;
  readonly #options: DispatcherOptions;
  readonly #settings: DispatcherSettings;
  #running: Promise<Running> | undefined;
  #ended: Promise<void> | undefined;

  constructor(options: DispatcherOptions) {
    this.#store = options.store;
    this.#options = options;
    this.#settings = checkDispatcher(options);
  }

  async start(): Promise<void> {
    if (this.#running !== undefined) return;
    this.#running = this.#open();
    const { dispatching, egress } = await this.#running;
    this.#ended = this.#untilEnd(dispatching.run(), egress);
  }

  async stop(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    (await running).dispatching.stop();
    await this.#ended;
    this.#running = undefined;
  }

  async drain(limits: DrainLimits = {}): Promise<DrainReport> {
    const { dispatching, egress } = await this.#open();
    try {
      return await dispatching.drain(limits);
    } finally {
      await this.#close(egress);
    }
  }

  async #open(): Promise<Running> {
    const { egress: given, allowAddresses = [], allowHttp = false } = this.#options;
    const egress = given ?? (await createEgress({ allowAddresses, allowHttp }));
    return { egress, dispatching: new Dispatching(this.#store, egress, this.#settings) };
  }

  async #untilEnd(run: Promise<void>, egress: Egress): Promise<void> {
    await run;
    await this.#close(egress);
  }

  /** What was handed in is its owner's to close. */
  async #close(egress: Egress): Promise<void> {
    if (egress !== this.#options.egress) await egress.close();
  }
}
