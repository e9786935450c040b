import type { Clock } from "../../clock.js";
import type { Claim, ClaimedDelivery } from "../../lanes/lane-store.js";

/** What a slot may do next, by itself. */
export interface SlotTurn {
  /** Whether it goes on with its lane. */
  readonly next: boolean;
  /** Whether it may take another lane of the same consumer, where nothing waits behind. */
  readonly other: boolean;
}

// So long a slot goes on with a lane while others may wait for it: a lane that never ends would keep it for ever.
const KEEPS_MS = 1000;
// So many lanes a slot takes one after another from its settlements. Then it is free for a claim: what other consumers
// have, and events without a key, must not wait until no lane of this one is due.
const OTHER_LANES = 8;

interface Begun {
  /** When a claim gave the slot, by the monotonic clock. */
  readonly since: number;
  /** How many other lanes it has taken since then. */
  readonly lanes: number;
}

/** Decides how long a slot goes on by itself, before a claim gives it to whoever has waited longest. */
export class SlotTurns {
  readonly #clock: Clock;
  readonly #isContended: () => boolean;
  /** Of the claim in each slot, by its head: a claim is shortened, and keeps its head. */
  readonly #turns = new WeakMap<ClaimedDelivery, Begun>();

  /** `isContended` says whether others may wait for slots, of which none is free. */
  constructor(clock: Clock, isContended: () => boolean) {
    this.#clock = clock;
    this.#isContended = isContended;
  }

  of(claim: Claim): SlotTurn {
    const { since, lanes } = this.#turnOf(claim);
    const isOver = this.#clock.monotonic() - since >= KEEPS_MS && this.#isContended();
    return { next: !isOver, other: lanes < OTHER_LANES };
  }

  /** The slot of a claim goes on with the next one. */
  goesOn(claim: Claim, next: Claim): void {
    const { since, lanes } = this.#turnOf(claim);
    const isSame = next.kind === claim.kind && next.id === claim.id;
    this.#turns.set(next.run[0], { since, lanes: isSame ? lanes : lanes + 1 });
  }

  #turnOf({ run: [head] }: Claim): Begun {
    const known = this.#turns.get(head);
    if (known !== undefined) return known;
    const begun = { since: this.#clock.monotonic(), lanes: 0 };
    this.#turns.set(head, begun);
    return begun;
  }
}
