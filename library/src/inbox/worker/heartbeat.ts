import type { Clock } from "../../clock.js";
import type { Claim, LaneStore } from "../../lanes/lane-store.js";

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
  #idle: AbortController | undefined;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
  }

  /** Keeps a lease until the function that it returns is called. `onLost` is called where another may have it. */
  keep({ kind, id, epoch }: Claim, onLost: () => void): () => void {
    const { clock, leaseMs } = this.#parts;
    const kept = { lease: { kind, id, epoch }, onLost, endsAt: clock.monotonic() + leaseMs };
    this.#kept.add(kept);
    if (this.#idle === undefined) void this.#beat();
    return () => {
      this.#kept.delete(kept);
      // A timer that is left behind would keep the process from ending.
      if (this.#kept.size === 0) this.#idle?.abort("idle");
    };
  }

  async #beat(): Promise<void> {
    const idle = new AbortController();
    this.#idle = idle;
    const { clock, leaseMs } = this.#parts;
    let beats = BEATS_PER_LEASE;
    for (;;) {
      await clock.sleep(leaseMs / beats, idle.signal);
      if (idle.signal.aborted) break;
      beats = (await this.#extend()) ? BEATS_PER_LEASE : BEATS_AFTER_FAILURE;
    }
    this.#idle = undefined;
    if (this.#kept.size > 0) void this.#beat();
  }

  /** False when the store failed. */
  async #extend(): Promise<boolean> {
    const { clock, leaseMs, extend, failed } = this.#parts;
    const all = [...this.#kept];
    const endsAt = clock.monotonic() + leaseMs;
    try {
      const answers = await extend(all.map(({ lease }) => lease));
      all.forEach((kept, index) => {
        if (answers[index] === true) kept.endsAt = endsAt;
        else this.#lose(kept);
      });
      return true;
    } catch (error) {
      failed("extend", error);
      // Whoever cannot ask must not go on for longer than the last answer allows: another may begin then.
      for (const kept of all) if (kept.endsAt <= clock.monotonic()) this.#lose(kept);
      return false;
    }
  }

  #lose(kept: Kept): void {
    // What was let go while the store was asked is not lost: its transaction has settled it.
    if (this.#kept.delete(kept)) kept.onLost();
  }
}
