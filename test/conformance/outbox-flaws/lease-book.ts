import type { FakeClock } from "posthorn/testing";
import type { Claim } from "../../../library/src/lanes/lane-store.js";
import type { Flaw } from "./flaw.js";

/** The outbox that has a flaw. */
export type Outbox = Parameters<NonNullable<Flaw["wrap"]>>[0];

/** Who has leased what, as an outbox's callers can know it: for flaws that only some leases meet. */
export class LeaseBook {
  readonly #inner: Outbox;
  readonly #clock: FakeClock;
  readonly #leases = new Map<string, { readonly claim: Claim; readonly endsAt: number }>();

  constructor(inner: Outbox, clock: FakeClock) {
    this.#inner = inner;
    this.#clock = clock;
  }

  /** As the outbox answers them, and noted. */
  get verbs(): Pick<Outbox, "claim" | "settle" | "release"> {
    const inner = this.#inner;
    return {
      claim: async (request) => {
        const answer = await inner.claim(request);
        for (const claim of answer.claims) this.#note(claim, request.leaseMs);
        return answer;
      },
      settle: async (request) => {
        const answers = await inner.settle(request);
        for (const [index, answer] of answers.entries()) {
          if (answer.kind === "stale") continue;
          const { kind, id } = request.settlements[index]?.claim ?? {};
          this.#leases.delete(`${kind} ${id}`);
          if (answer.next !== undefined) this.#note(answer.next, request.leaseMs);
        }
        return answers;
      },
      release: async (worker, held) => {
        const released = await inner.release(worker, held);
        const kept = new Set(held.map(({ kind, id }) => `${kind} ${id}`));
        for (const name of this.#leases.keys()) if (!kept.has(name)) this.#leases.delete(name);
        return released;
      },
    };
  }

  #note(claim: Claim, leaseMs: number): void {
    const endsAt = this.#clock.monotonic() + leaseMs;
    this.#leases.set(`${claim.kind} ${claim.id}`, { claim, endsAt });
  }

  /** Until the lane's lease ends, 0 or less when it has; undefined where nobody has leased it. */
  leftMs(laneId: bigint): number | undefined {
    const lease = this.#leases.get(`lane ${laneId}`);
    return lease && lease.endsAt - this.#clock.monotonic();
  }

  /** Whether the lane's lease has ended by itself. */
  hasEnded(laneId: bigint): boolean {
    return (this.leftMs(laneId) ?? 1) <= 0;
  }
}
