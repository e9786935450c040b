import type { Clock } from "../clock.js";
import { aloneAgainAt } from "./alone-budget.js";
import { Batcher } from "./batcher.js";
import { Bell } from "./wake.js";

/** What the loop asks for: the part that differs between deliveries and other work. `Held` is a claim of this process. */
export interface WorkPort<Held, Result> {
  /** Leases what is due. `alone` asks for one that must run with nothing beside it. */
  claim(request: { readonly limit: number; readonly alone: boolean }): Promise<{
    readonly claims: readonly Held[];
    /** True when something waits for a claim with `alone`. */
    readonly lapsed: boolean;
    /** True when the claim was full, so that another may find more. */
    readonly more: boolean;
  }>;
  /** Never throws: what went wrong is a result. */
  run(claim: Held): Promise<Result>;
  /** Records results, and returns what is leased in their place, if `next` asks for it. */
  settle(results: readonly Result[], asked: AskedNext): Promise<readonly (Held | undefined)[]>;
  /** Gives back what is leased and not among these. */
  release(held: readonly Held[]): Promise<void>;
  /** Milliseconds until something is due; undefined when nothing waits for its time. */
  untilDue(): Promise<number | undefined>;
  /** Called for each call to the store that failed; the loop goes on. */
  failed(operation: string, error: unknown): void;
}

export interface AskedNext {
  readonly next: boolean;
  /** True when others may wait for the slots of these results. */
  readonly waiting: boolean;
}

export interface LoopLimits {
  /** How many claims are under way at once. */
  readonly slots: number;
  /** The longest sleep: hints may be lost, and other processes give none. */
  readonly pollMs: number;
  /** How many results are settled at once. */
  readonly settleBatch: number;
  /** What has been under way for longer than this is waited for by nothing that has to run alone. @default no such time */
  readonly longMs?: number;
}

// Waits after failures of the store: long enough to leave a database alone that is starting, short enough to notice that
// it has started.
const FAILURE_WAITS_MS = [50, 100, 250, 500, 1000];

// What is due and was not leased is another worker's, or will be ready in a moment: asking at once would spin.
const LEAST_WAIT_MS = 5;
// One batch is written while the next gathers. With more batches each gets small, and each costs a commit.
const SETTLED_AT_ONCE = 2;

/** Claims, runs and settles until it is told to stop, with as few questions to the store as possible. */
export class WorkLoop<Held extends object, Result> {
  readonly #port: WorkPort<Held, Result>;
  readonly #limits: LoopLimits;
  readonly #clock: Clock;
  readonly #bell: Bell;
  readonly #settling: Batcher<Result>;
  /** Since when, by the clock. */
  readonly #held = new Map<Held, number>();
  readonly #claimOf = new WeakMap<object, Held>();
  #stopping = false;
  // Something lapsed too often to run beside others: everything else is let finish first.
  #alone = false;
  // Until then it waits, although something asks to run alone: that may take a part of the time only.
  #aloneAgainAt = -Infinity;
  #alonePostponed = false;
  // What runs alone, and may have become long meanwhile. Two of them beside each other could each be the one at fault.
  #runningAlone: Held | undefined;
  #mayBeMore = true;
  #claimedAt = -Infinity;
  #failures = 0;
  #leftBehind = false;

  constructor(port: WorkPort<Held, Result>, limits: LoopLimits, clock: Clock) {
    this.#port = port;
    this.#limits = limits;
    this.#clock = clock;
    this.#bell = new Bell(clock);
    this.#settling = new Batcher({
      maxItems: limits.settleBatch,
      maxBatches: SETTLED_AT_ONCE,
      soon: clock.soon?.bind(clock),
      run: (results) => this.#settle(results),
    });
  }

  /** How many claims are under way, settling included. */
  get underWay(): number {
    return this.#held.size;
  }

  /** Whether something may be due for which no slot is free. */
  get isContended(): boolean {
    return this.#mayBeMore && !this.#hasRoom();
  }

  /** Something may be due. */
  hint(): void {
    this.#mayBeMore = true;
    this.#bell.ring();
  }

  /** Claims nothing more; `run` ends when everything under way is settled. */
  stop(): void {
    this.#stopping = true;
    this.#bell.ring();
  }

  /** Runs until `stop`, or, where `once` is asked, until nothing is due. */
  async run({ once = false }: { readonly once?: boolean } = {}): Promise<void> {
    while (!this.#stopping) {
      if (this.#leftBehind) await this.#releaseLost();
      else if (this.#alone) await this.#runAlone();
      else if (this.#mayBeMore && this.#hasRoom()) await this.#claim();
      else if (once && !this.#mayBeMore && this.#held.size === 0) {
        // With nothing else to do, what was postponed is in nobody's way.
        if (!this.#alonePostponed) break;
        this.#alone = true;
      } else await this.#sleep(once);
    }
    while (this.#held.size > 0) await this.#bell.wait(this.#limits.pollMs);
    await this.#attempt("release", () => this.#port.release([]));
  }

  #hasRoom(): boolean {
    // One free slot is enough: where it waited for more, one endpoint that hung could keep every other from being claimed.
    return this.#held.size < this.#limits.slots;
  }

  async #claim(): Promise<void> {
    const limit = this.#limits.slots - this.#held.size;
    this.#mayBeMore = false;
    this.#claimedAt = this.#clock.monotonic();
    const answer = await this.#attempt("claim", () => this.#port.claim({ limit, alone: false }));
    if (answer === undefined) return;
    if (answer.more) this.#mayBeMore = true;
    this.#alonePostponed = answer.lapsed && !this.#mayRunAlone();
    if (answer.lapsed && !this.#alonePostponed) this.#alone = true;
    for (const claim of answer.claims) this.#start(claim);
  }

  async #runAlone(): Promise<void> {
    const startedAt = this.#clock.monotonic();
    while (this.#isCrowded() && !this.#stopping) await this.#bell.wait(this.#limits.pollMs);
    if (this.#stopping) return;
    const answer = await this.#attempt("claim", () => this.#port.claim({ limit: 1, alone: true }));
    for (const claim of answer?.claims ?? []) {
      this.#runningAlone = claim;
      this.#start(claim);
    }
    while (this.#isCrowded()) await this.#bell.wait(this.#limits.pollMs);
    // Another process may have taken it; the next claim tells whether there are more.
    this.#alone = false;
    this.#alonePostponed = false;
    this.#aloneAgainAt = aloneAgainAt(startedAt, this.#clock.monotonic());
    this.#mayBeMore = true;
  }

  #mayRunAlone(): boolean {
    if (this.#runningAlone !== undefined && this.#held.has(this.#runningAlone)) return false;
    return this.#clock.monotonic() >= this.#aloneAgainAt;
  }

  /** Whether something is under way that has to end before anything runs alone. What is long is left to itself: it may take hours. */
  #isCrowded(): boolean {
    const { longMs = Infinity } = this.#limits;
    const now = this.#clock.monotonic();
    return [...this.#held.values()].some((since) => now - since < longMs);
  }

  #start(claim: Held): void {
    this.#held.set(claim, this.#clock.monotonic());
    void this.#finish(claim);
  }

  async #finish(claim: Held): Promise<void> {
    const result = await this.#port.run(claim);
    this.#claimOf.set(result as object, claim);
    this.#settling.add(result);
  }

  /** Tries until the store takes it: what was sent must be recorded, or it is sent again when its lease ends. */
  async #settle(results: readonly Result[]): Promise<void> {
    let answer: readonly (Held | undefined)[] | undefined;
    let tries = 0;
    do {
      const next = !this.#stopping && !this.#alone;
      answer = await this.#attempt("settle", () =>
        this.#port.settle(results, { next, waiting: this.#mayBeMore }),
      );
      tries += 1;
    } while (answer === undefined);
    results.forEach((result, index) => {
      const claim = this.#claimOf.get(result as object);
      if (claim !== undefined) this.#held.delete(claim);
      const next = answer[index];
      if (next !== undefined) this.#start(next);
      // Its slot, and its endpoint's, may be what another waits for.
      else this.#mayBeMore = true;
    });
    // Not before it is settled: until then its lanes count as held, and nothing of them would be given back.
    if (tries > 1) this.#leftBehind = true;
    this.#bell.ring();
  }

  async #sleep(once: boolean): Promise<void> {
    const { pollMs } = this.#limits;
    // With claims under way, the next settlement wakes it; a question now would stand before a hint that comes.
    if (this.#mayBeMore || this.#held.size > 0) {
      await this.#bell.wait(pollMs);
      // Lanes that go on ring it all the time: what another process has published would wait for their end.
      if (!once && this.#clock.monotonic() - this.#claimedAt >= pollMs) this.#mayBeMore = true;
      return;
    }
    const dueMs = await this.#attempt("until_due", () => this.#port.untilDue().then((ms) => ms ?? pollMs));
    if (dueMs === undefined) return;
    // What was postponed is due all the time.
    const leastMs = this.#alonePostponed
      ? Math.max(LEAST_WAIT_MS, this.#aloneAgainAt - this.#clock.monotonic())
      : LEAST_WAIT_MS;
    const rung = await this.#bell.wait(Math.min(Math.max(dueMs, leastMs), pollMs));
    if (!rung) this.#mayBeMore = true;
  }

  /** What the store leased in an answer that was lost is held by nobody, and would wait for its lease to end. */
  async #releaseLost(): Promise<void> {
    const done = await this.#attempt("release", () =>
      this.#port.release([...this.#held.keys()]).then(() => true),
    );
    if (done === true) this.#leftBehind = false;
    this.#mayBeMore = true;
  }

  /** Undefined when the store failed; then some time has passed. */
  async #attempt<T>(operation: string, ask: () => Promise<T>): Promise<T | undefined> {
    try {
      const answer = await ask();
      this.#failures = 0;
      return answer;
    } catch (error) {
      this.#port.failed(operation, error);
      if (operation === "claim") this.#leftBehind = true;
      const waitMs = FAILURE_WAITS_MS[Math.min(this.#failures++, FAILURE_WAITS_MS.length - 1)] ?? 0;
      await this.#clock.sleep(waitMs);
      return undefined;
    }
  }
}
