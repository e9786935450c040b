import type { ClaimRequest, Shares } from "../lanes/lane-store.js";

/** What a dispatcher has under way when it asks for more. */
export interface Holding {
  readonly slots: number;
  /** Claims held, by consumer. */
  readonly inFlight: ReadonlyMap<string, number>;
  /** Whether a consumer's last attempts were short. */
  readonly isQuick: (consumer: string) => boolean;
  /** The names of all consumers that are quick; asked for only where nobody else may get a slot. */
  readonly quick: () => readonly string[];
}

/** What to ask of the store in one claim. */
export interface Ask extends Pick<ClaimRequest, "limit"> {
  readonly shares: Shares;
}

// More than any consumer may hold.
const ANY = 2 ** 31 - 1;
// Of this many results whose slots others may wait for, one gives its slot up although its lane goes on.
const GIVES_UP_ONE_OF = 8;

/** How the slots are divided between consumers that answer quickly, those that do not, and those of which nobody knows. */
export function divide(slots: number): Readonly<{ share: number; calm: number; lent: number }> {
  const share = Math.max(1, Math.floor(slots / 16));
  return {
    /** The most that a consumer that is not quick may hold while others wait. */
    share,
    /** The most that all of these may hold together: the last quarter is kept for those that are quick. */
    calm: slots - Math.floor(slots / 4),
    /** Up to here they may hold more than their share while nobody waits. What is left is there for who comes next. */
    lent: Math.max(share, Math.floor(slots / 2)),
  };
}

/** The first claim: every consumer gets its share. Where those that are not quick have all they may, only the quick get more. */
export function fairAsk(holding: Holding): Ask | undefined {
  const { slots, inFlight, isQuick } = holding;
  const free = slots - heldBy(holding, () => true);
  if (free < 1) return undefined;
  const { share, calm } = divide(slots);
  const left = calm - heldBy(holding, (consumer) => !isQuick(consumer));
  if (left < 1) return { limit: free, shares: { of: named(holding.quick()), others: 0 } };
  const quick = [...inFlight.keys()].filter(isQuick);
  return { limit: Math.min(free, left), shares: { of: named(quick), others: share } };
}

/**
 * The second claim, after one that found less than it asked for, so that nobody else waits: consumers that have used up
 * their share get more. Undefined where there is none, or nothing to lend.
 */
export function generousAsk(holding: Holding, { shares }: Ask): Ask | undefined {
  const { slots, inFlight, isQuick } = holding;
  const { calm, lent } = divide(slots);
  const free = slots - heldBy(holding, () => true);
  const slowHeld = heldBy(holding, (consumer) => !isQuick(consumer));
  const full = [...inFlight].filter(([consumer, held]) => held >= (shares.of.get(consumer) ?? shares.others));
  const slow = slowHeld < lent ? full.filter(([consumer]) => !isQuick(consumer)) : [];
  const quick = full.filter(([consumer]) => isQuick(consumer));
  const limit = Math.min(free, (slow.length > 0 ? lent : calm) - slowHeld);
  if (limit < 1 || slow.length + quick.length === 0) return undefined;
  const more = [...slow, ...quick].map(([consumer]) => consumer);
  return { limit, shares: { of: new Map([...shares.of, ...named(more)]), others: shares.others } };
}

/** Who else may want the slots of results. */
export interface Others {
  /** Others may wait for them. */
  readonly waiting: boolean;
  /** Something was sequenced since the last brief claim, and may be brief. */
  readonly news: boolean;
}

/** Decides who keeps a slot for the next delivery of its lane, and who gives it up for others that wait. */
export class SlotKeeping {
  #results = 0;

  /**
   * For each of these consumers, whose claims are being settled, whether it takes its lane's next delivery into the slot.
   * While others wait, a consumer above its share gives slots up; and where no slot is free, so does one result in
   * eight, whosever it is: with lanes that never end, nobody else would ever get a slot. With `news` the first one does at
   * once: a lane that waits for long is brief no more.
   */
  decide(consumers: readonly string[], holding: Holding, { waiting, news }: Others): readonly boolean[] {
    if (!waiting) return consumers.map(() => true);
    let owed = news;
    const { slots, isQuick } = holding;
    const { share, calm } = divide(slots);
    const inFlight = new Map(holding.inFlight);
    const isFull = heldBy(holding, () => true) >= slots;
    const isCalmFull = heldBy(holding, (consumer) => !isQuick(consumer)) >= calm;
    return consumers.map((consumer) => {
      const held = inFlight.get(consumer) ?? 1;
      const quick = isQuick(consumer);
      const contended = isFull || (!quick && isCalmFull);
      const gives = contended && (this.#isTurn() || owed);
      const keeps = (quick || held <= share) && !gives;
      if (keeps) return true;
      owed = false;
      inFlight.set(consumer, held - 1);
      return false;
    });
  }

  #isTurn(): boolean {
    this.#results = (this.#results + 1) % GIVES_UP_ONE_OF;
    return this.#results === 0;
  }
}

/**
 * Decides which claims are brief. A lane that goes on keeps its slot for eight results, a brief one for one: with eight
 * brief claims to one for everybody, each kind gets half of the time, and neither waits for more than that. After a brief
 * claim that found less than it asked for, the next waits for news, or until it is time to poll: a backlog alone would pay
 * for claims that find nothing.
 */
export class ClaimTurns {
  readonly #pollMs: number;
  #briefLeft = 0;
  #againAt = -Infinity;
  #hasNews = false;

  constructor(pollMs: number) {
    this.#pollMs = pollMs;
  }

  /** Something was sequenced, and may be brief. */
  news(): void {
    this.#hasNews = true;
    this.#againAt = -Infinity;
  }

  /** Whether something was sequenced since the last brief claim. */
  get hasNews(): boolean {
    return this.#hasNews;
  }

  /** Whether the next claim is brief. None is while everything that is due has a slot. */
  isBrief(contended: boolean, now: number): boolean {
    if (contended && this.#briefLeft > 0 && now >= this.#againAt) {
      // Before the claim, so that news that come meanwhile count.
      this.#hasNews = false;
      this.#againAt = now + this.#pollMs;
      return true;
    }
    this.#briefLeft = GIVES_UP_ONE_OF;
    return false;
  }

  /** A brief claim was made. Where it found less than it asked for, the rest is everybody's at once. */
  wasBrief(full: boolean): void {
    this.#briefLeft = full ? this.#briefLeft - 1 : 0;
    if (full) this.#againAt = -Infinity;
  }
}

function heldBy({ inFlight }: Holding, counts: (consumer: string) => boolean): number {
  let held = 0;
  for (const [consumer, count] of inFlight) if (counts(consumer)) held += count;
  return held;
}

function named(consumers: readonly string[]): ReadonlyMap<string, number> {
  return new Map(consumers.map((consumer) => [consumer, ANY]));
}
