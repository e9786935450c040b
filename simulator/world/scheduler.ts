/** Something that will happen, unless it is called off. */
export interface Planned {
  readonly at: number;
  readonly order: number;
  action: (() => void) | undefined;
}

// A turn of the real event loop: every promise that can go on has gone on when it ends. Taken before a test runner
// can replace it.
const turn = globalThis.setImmediate;

// What waits for no time, but for a turn of its own (a batch that gathers), gets some before a run counts as over.
const LAST_TURNS = 3;

// Between two iterations of the real event loop the machine is asked for news, which costs as much as a step of a run.
const TURNS_AT_ONCE = 64;

/** Virtual time: nothing happens but what was planned, in the order of its time, and of its planning where that is equal. */
export class Scheduler {
  readonly #heap: Planned[] = [];
  readonly #turns: (() => void)[] = [];
  readonly #limit: number;
  #now = 0;
  #order = 0;
  #happened = 0;
  #woke = false;

  /** @param limit how much may happen before a run counts as one that never ends */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Milliseconds since the run began. */
  get now(): number {
    return this.#now;
  }

  get happened(): number {
    return this.#happened;
  }

  after(ms: number, action: () => void): Planned {
    const planned: Planned = { at: this.#now + Math.max(0, ms), order: this.#order++, action };
    this.#push(planned);
    return planned;
  }

  /** Says that a promise was settled: what waits for it goes on before anything else happens. */
  woke(): void {
    this.#woke = true;
  }

  /** For what waits for no time, but for a turn of its own: a batch that gathers. */
  soon(work: () => void): void {
    this.#turns.push(work);
  }

  /** Lets everything happen until `isOver`, or until nothing is planned. */
  run(isOver: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      let idle = 0;
      const step = (): void => {
        if (this.#goOn(isOver)) idle = 0;
        else if (isOver() || ++idle > LAST_TURNS) return end(resolve);
        this.soon(step);
      };
      const end = (settle: () => void): void => {
        this.#turns.length = 0;
        settle();
      };
      const fail = (error: unknown): void =>
        end(() => reject(error instanceof Error ? error : new Error(String(error))));
      this.soon(step);
      this.#takeTurns(fail);
    });
  }

  /** Some turns of the event loop at once: all promises go on between two of them, and nothing asks the machine for news. */
  #takeTurns(fail: (error: unknown) => void): void {
    let left = TURNS_AT_ONCE;
    const next = (): void => {
      try {
        this.#turns.shift()?.();
      } catch (error) {
        fail(error);
      }
      if (--left === 0 && this.#turns.length > 0) this.#takeTurns(fail);
    };
    for (let n = 0; n < TURNS_AT_ONCE; n++) turn(next);
  }

  /** True when something was woken, and needs its turn. */
  #goOn(isOver: () => boolean): boolean {
    while (!isOver()) {
      const next = this.#pop();
      if (next === undefined) return false;
      const { action } = next;
      if (action === undefined) continue;
      this.#now = next.at;
      if (++this.#happened > this.#limit)
        throw new Endless(`${this.#limit} things happened by ${this.#now} ms, and no end`);
      action();
      if (this.#woke) {
        this.#woke = false;
        return true;
      }
    }
    return false;
  }

  #push(planned: Planned): void {
    const heap = this.#heap;
    let at = heap.push(planned) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Planned;
      if (!isBefore(planned, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = planned;
  }

  #pop(): Planned | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      const left = heap[child];
      if (left === undefined) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, left)) child++;
      const below = heap[child] as Planned;
      if (!isBefore(below, last)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

/** A run that never ends: something asks again and again without letting time pass. */
export class Endless extends Error {}

function isBefore(one: Planned, other: Planned): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
