import type { Clock } from "../../../clock.js";
import type { FilledPlace, Gap, HoldMark } from "../../../hold-mark.js";
import { inSequence, missingBefore, planHold } from "../../../lanes/hold.js";
import type { Filled, HeldEvent, Progress } from "../../../lanes/hold.js";
import { gapSignal, lateSignal } from "../../../lanes/hold-signals.js";
import type { Signal } from "../../../observer.js";
import type { EventLog, StoredEvent } from "../outbox/event-log.js";

/** An event whose turn may not have come. */
interface Arrived {
  readonly event: StoredEvent;
  readonly mark: HoldMark;
}

interface Held extends Arrived {
  /** By the monotonic clock. */
  readonly until: number;
}

/** A held event, and what it waits for. */
export interface HeldPlace {
  readonly event: StoredEvent;
  readonly until: Date;
  readonly missing: Pick<Gap, "from" | "to"> | undefined;
}

interface KnownKey {
  progress: Progress | undefined;
  held: Held[];
  filled: (Filled & { readonly at: number })[];
  seenAt: number;
}

export interface HoldParts {
  readonly clock: Clock;
  readonly events: EventLog;
  readonly place: (event: StoredEvent) => void;
  readonly tell: (signal: Signal) => void;
}

/** Events whose turn in the sequence of their key has not come. */
export class Holds {
  readonly #parts: HoldParts;
  readonly #keys = new Map<string, KnownKey>();

  constructor(parts: HoldParts) {
    this.#parts = parts;
  }

  /** Places an event and those that waited for it, or holds it; false where nothing holds it. */
  take(event: StoredEvent): boolean {
    const mark = event.receipt?.hold;
    if (mark === undefined || event.key === undefined) return false;
    this.#judge(nameOf(event), [{ event, mark }]);
    return true;
  }

  /** Waits no longer for a place whose event was answered and is not stored. */
  fill(place: FilledPlace): void {
    const name = nameOf(place);
    const known = this.#known(name);
    if (known.filled.every((each) => inSequence(each, place) !== 0))
      known.filled.push({ ...place, at: this.#parts.clock.now() });
    this.#judge(name, []);
  }

  /** Gives up what was waited for in vain for long enough, and says how many events are held no longer. */
  freeDue(): number {
    const before = this.count;
    for (const [name, { held }] of this.#keys)
      if (held.some((each) => this.#isDue(each))) this.#judge(name, []);
    return before - this.count;
  }

  /** Where the events of these keys stand that are held: by key, then by sequence. */
  held(): readonly HeldPlace[] {
    return [...this.#keys.values()].flatMap(({ progress, held, filled }) => {
      const sorted = held.toSorted((one, other) => inSequence(one.mark, other.mark));
      return sorted.map(({ event, mark, until }, index) => {
        const before = sorted[index - 1]?.mark;
        const heldBefore = before?.generation === mark.generation ? before.sequence : undefined;
        const { clock } = this.#parts;
        return {
          event,
          until: new Date(clock.now() + until - clock.monotonic()),
          missing: missingBefore(mark, { progress, heldBefore, filled }),
        };
      });
    });
  }

  /** Gives up what an event waits for, and says what was given up; undefined where it is not held. */
  release(event: StoredEvent): { readonly events: number; readonly gaps: readonly Gap[] } | undefined {
    if (!this.has(event)) return undefined;
    const before = this.count;
    const gaps = this.#judge(nameOf(event), [], event);
    return { events: before - this.count, gaps };
  }

  has(event: StoredEvent): boolean {
    const key = event.receipt?.hold === undefined ? undefined : this.#keys.get(nameOf(event));
    return key?.held.some((each) => each.event === event) === true;
  }

  get count(): number {
    return [...this.#keys.values()].reduce((sum, { held }) => sum + held.length, 0);
  }

  /** Milliseconds until an event has been held for as long as it may. */
  untilNextMs(): number | undefined {
    const waits = [...this.#keys.values()].flatMap(({ held }) => held.map(({ until }) => until));
    return waits.length === 0 ? undefined : Math.min(...waits) - this.#parts.clock.monotonic();
  }

  /** Forgets how far keys have come of which nothing has come since then, and nothing is held; and places that were filled before. */
  forget(before: number): number {
    let forgotten = 0;
    for (const known of this.#keys.values()) {
      const kept = known.filled.filter(({ at }) => at > before);
      forgotten += known.filled.length - kept.length;
      known.filled = kept;
    }
    const old = [...this.#keys].filter(
      ([, { held, filled, seenAt }]) => held.length + filled.length === 0 && seenAt <= before,
    );
    for (const [name] of old) this.#keys.delete(name);
    return forgotten + old.length;
  }

  #isDue({ until }: Held): boolean {
    return until <= this.#parts.clock.monotonic();
  }

  #known(name: string): KnownKey {
    const known = this.#keys.get(name) ?? { progress: undefined, held: [], filled: [], seenAt: 0 };
    this.#keys.set(name, known);
    return known;
  }

  #judge(name: string, arrivals: readonly Arrived[], released?: StoredEvent): readonly Gap[] {
    const { clock } = this.#parts;
    const known = this.#known(name);
    const held = known.held.map((each): HeldEvent & { readonly each: Held } => ({
      mark: each.mark,
      isDue: this.#isDue(each),
      isReleased: each.event === released,
      each,
    }));
    const plan = planHold({ progress: known.progress, held, filled: known.filled }, arrivals);
    known.progress = plan.progress;
    known.filled = known.filled.filter((each) => !plan.passed.includes(each));
    if (plan.going.length > 0) known.seenAt = clock.now();
    for (const { arrived, isLate } of plan.going) this.#go(arrived, isLate);
    const freed = plan.freed.map(({ held: { each }, gap }) => ({ held: each as Arrived, gap }));
    known.held = known.held.filter((each) => !freed.some((free) => free.held === each));
    for (const each of plan.holding) known.held.push({ ...each, until: clock.monotonic() + each.mark.maxMs });
    const decided = [...freed, ...plan.again];
    const again = decided.map((free) => this.#decided(free.held, free.gap));
    // Their turns are asked for again: what was given up before them is known now.
    if (again.length > 0) this.#judge(name, again);
    return decided.flatMap(({ gap }) => gap ?? []);
  }

  #decided({ event, mark }: Arrived, gap: HoldMark["gap"]): Arrived {
    if (gap === undefined) return { event, mark };
    const signal = gapSignal(keyOf(event), event.id, gap);
    if (signal !== undefined) this.#parts.tell(signal);
    return this.#marked(event, { ...mark, gap });
  }

  #go({ event, mark }: Arrived, isLate: boolean): void {
    if (!isLate) return this.#parts.place(event);
    this.#parts.tell(lateSignal(keyOf(event), event.id, mark));
    this.#parts.place(this.#marked(event, { ...mark, late: true }).event);
  }

  /** Keeps with an event what was decided of it. */
  #marked(event: StoredEvent, mark: HoldMark): Arrived {
    if (event.receipt === undefined) return { event, mark };
    const marked = { ...event, receipt: { ...event.receipt, hold: mark } };
    this.#parts.events.replace(event, marked);
    return { event: marked, mark };
  }
}

function keyOf({ tenant, source, key = "" }: StoredEvent) {
  return { tenant, source, key };
}

function nameOf({ tenant, source, key }: Pick<StoredEvent, "tenant" | "source" | "key">): string {
  return JSON.stringify([tenant, source, key]);
}
