import type { Clock } from "../../clock.js";
import type { Claim, LaneStore } from "../../lanes/lane-store.js";
import { PosthornError } from "../../posthorn-error.js";
import type { StoreErrorCode } from "../../store-errors.js";

/** A lease as its store knows it. */
export type LeaseName = Parameters<LaneStore["extend"]>[1][number];

export interface HeartbeatParts {
  readonly extend: (leases: readonly LeaseName[]) => Promise<readonly boolean[]>;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly failed: (operation: string, error: unknown) => void;
}

interface Kept {
  readonly lease: LeaseName;
  readonly onLost: () => void;
  /** Ends the watch over it. */
  readonly over: AbortController;
  /** By this process's clock, counted from before the store was asked: the store's lease ends later, never earlier. */
  endsAt: number;
}

// Two may fail before the lease ends.
const BEATS_PER_LEASE = 3;
// After a failure, so that a database that was restarted is found in time.
const BEATS_AFTER_FAILURE = 12;

/** Keeps leases for as long as they are needed: all of them by one statement, at a third of the lease. */
export class Heartbeat {
  readonly #parts: HeartbeatParts;
  readonly #kept = new Set<Kept>();
  readonly #askedAt = new WeakMap<Claim, number>();
  #idle: AbortController | undefined;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
  }

  /** Notes when the store was asked for a claim, by the monotonic clock: an answer that was slow has used up a part of the lease. */
  leased(claim: Claim, askedAt: number): void {
    this.#askedAt.set(claim, askedAt);
  }

  /** Keeps a lease until the function that it returns is called. `onLost` is called where another may have it. */
  keep(claim: Claim, onLost: () => void): () => void {
    const { clock, leaseMs } = this.#parts;
    const { kind, id, epoch } = claim;
    const now = clock.monotonic();
    const endsAt = (this.#askedAt.get(claim) ?? now) + leaseMs;
    const kept = { lease: { kind, id, epoch }, onLost, over: new AbortController(), endsAt };
    this.#kept.add(kept);
    // Before the watch: a lease that has ended by now is lost at once, and must find the beat that ends with it.
    if (this.#idle === undefined) void this.#beat();
    void this.#watch(kept);
    // It could end before the next beat.
    const isShort = endsAt - now < leaseMs - leaseMs / BEATS_PER_LEASE;
    if (isShort && this.#kept.has(kept)) void this.#extend([kept]);
    return () => void this.#letGo(kept);
  }

  /** Whoever cannot ask must not go on for longer than the last answer allows: another may begin then, also while a question waits for its answer. */
  async #watch(kept: Kept): Promise<void> {
    const { clock } = this.#parts;
    const { signal } = kept.over;
    while (!signal.aborted) {
      const leftMs = kept.endsAt - clock.monotonic();
      if (leftMs <= 0) this.#lose(kept);
      else await clock.sleep(leftMs, signal);
    }
  }

  async #beat(): Promise<void> {
    const idle = new AbortController();
    this.#idle = idle;
    const { clock, leaseMs } = this.#parts;
    let beats = BEATS_PER_LEASE;
    for (;;) {
      await clock.sleep(leaseMs / beats, idle.signal);
      if (idle.signal.aborted) break;
      beats = (await this.#extendInTime(idle.signal)) ? BEATS_PER_LEASE : BEATS_AFTER_FAILURE;
    }
    this.#idle = undefined;
    if (this.#kept.size > 0) void this.#beat();
  }

  /** False when the store failed, or is silent for as long as a beat lasts: the next question may find another connection. */
  async #extendInTime(idle: AbortSignal): Promise<boolean> {
    const { clock, leaseMs, failed } = this.#parts;
    const answered = new AbortController();
    idle.addEventListener("abort", () => answered.abort("idle"), { signal: answered.signal });
    const silentMs = leaseMs / BEATS_PER_LEASE;
    const silent = clock.sleep(silentMs, answered.signal).then(() => {
      if (!answered.signal.aborted) failed("extend", silentStore(silentMs));
      return false;
    });
    try {
      return await Promise.race([this.#extend([...this.#kept]), silent]);
    } finally {
      answered.abort("answered");
    }
  }

  /** False when the store failed. */
  async #extend(all: readonly Kept[]): Promise<boolean> {
    const { clock, leaseMs, extend, failed } = this.#parts;
    const endsAt = clock.monotonic() + leaseMs;
    try {
      const answers = await extend(all.map(({ lease }) => lease));
      all.forEach((kept, index) => {
        // An answer that comes late must not shorten what a later question has got.
        if (answers[index] === true) kept.endsAt = Math.max(kept.endsAt, endsAt);
        else this.#lose(kept);
      });
      return true;
    } catch (error) {
      failed("extend", error);
      return false;
    }
  }

  #lose(kept: Kept): void {
    // What was let go while the store was asked is not lost: its transaction has settled it.
    if (this.#letGo(kept)) kept.onLost();
  }

  /** False when it was let go before. */
  #letGo(kept: Kept): boolean {
    // Timers that are left behind would keep the process from ending.
    kept.over.abort("let go");
    const isKept = this.#kept.delete(kept);
    if (this.#kept.size === 0) this.#idle?.abort("idle");
    return isKept;
  }
}

function silentStore(ms: number): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_unavailable",
    `The store did not answer within ${ms} ms; it is asked again. Long handlers are cut off when their leases end.`,
  );
}
