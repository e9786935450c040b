import type { Clock } from "posthorn";
import type { Client, EventInput } from "posthorn/client";

export interface TrafficOptions {
  readonly client: Client;
  readonly tenant: string;
  readonly customers: number;
  /** Events in a second. */
  readonly rate: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly random: () => number;
}

const BEAT_MS = 200;

/** Publishes orders of customers, each customer's numbered, until it is stopped. */
export class Traffic {
  readonly #options: TrafficOptions;
  readonly #numbers = new Map<number, number>();
  readonly #run = crypto.randomUUID().slice(0, 8);
  #published = 0;

  constructor(options: TrafficOptions) {
    this.#options = options;
  }

  get published(): number {
    return this.#published;
  }

  async run(): Promise<void> {
    const { rate, clock, signal, client } = this.#options;
    let owed = 0;
    let beatAt = clock.monotonic();
    while (!signal.aborted) {
      await clock.sleep(BEAT_MS, signal);
      // Paced by the clock, at most one second's worth: a server that was slow is not flooded afterwards.
      owed = Math.min(rate, owed + (rate * (clock.monotonic() - beatAt)) / 1000);
      beatAt = clock.monotonic();
      const events = Array.from({ length: Math.floor(owed) }, () => this.#next());
      owed -= events.length;
      // With ids: a retry after a lost answer does not publish twice.
      if (events.length > 0) await client.events.publish(events);
      this.#published += events.length;
    }
  }

  #next(): EventInput {
    const { customers, random, tenant } = this.#options;
    const customer = 1 + Math.floor(random() * customers);
    const number = (this.#numbers.get(customer) ?? 0) + 1;
    this.#numbers.set(customer, number);
    return {
      id: `demo_${this.#run}_${customer}_${number}`,
      type: "order.placed",
      key: `customer-${customer}`,
      tenant,
      source: "demo",
      data: { customer, number, total: Math.round(random() * 9000 + 100) / 100 },
    };
  }
}
