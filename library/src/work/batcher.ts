export interface BatcherOptions<Item> {
  /** Handles a batch; resolves when the batch is done, and must not throw. */
  readonly run: (items: readonly Item[]) => Promise<void>;
  readonly maxItems: number;
  /** How many batches may be under way at once. */
  readonly maxBatches: number;
  /** @default a turn of the event loop */
  readonly soon?: ((work: () => void) => void) | undefined;
}

// One turn of the event loop: callers that one batch has answered ask again together, and share the next batch.
const nextTurn: (work: () => void) => void =
  typeof setImmediate === "function" ? setImmediate : (work) => setTimeout(work, 0);

/** Gathers items that are added at the same moment, or while earlier batches are under way, into one batch. */
export class Batcher<Item> {
  readonly #options: BatcherOptions<Item>;
  #waiting: Item[] = [];
  #running = 0;
  #planned = false;

  constructor(options: BatcherOptions<Item>) {
    this.#options = options;
  }

  add(item: Item): void {
    this.#waiting.push(item);
    this.#plan();
  }

  #plan(): void {
    if (this.#planned || this.#waiting.length === 0 || this.#running >= this.#options.maxBatches) return;
    this.#planned = true;
    const { soon = nextTurn } = this.#options;
    soon(() => {
      this.#planned = false;
      this.#start();
      this.#plan();
    });
  }

  #start(): void {
    const { run, maxItems } = this.#options;
    const items = this.#waiting.slice(0, maxItems);
    this.#waiting = this.#waiting.slice(maxItems);
    this.#running++;
    void run(items).finally(() => {
      this.#running--;
      this.#plan();
    });
  }
}
