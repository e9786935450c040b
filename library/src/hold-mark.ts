/** Sequences that were given up. */
export interface Gap {
  readonly from: bigint;
  readonly to: bigint;
  /**
   * `time`: an event has waited for its `maxMs`. `number`: more than `maxEvents` waited. `restart`: the sequence began
   * anew. `operator`: a person has released what waited.
   */
  readonly because: "time" | "number" | "restart" | "operator";
}

/**
 * Where an event stands in the sequence of its key, by its sender's word, how long it may be held for those before it,
 * and what was decided in the end. It travels with the event's receipt: whoever sequences has no options of the source.
 */
export interface HoldMark {
  /** Sequences compare only within one generation; a higher one starts anew. */
  readonly generation: bigint;
  readonly sequence: bigint;
  /** The sequence that has to come before it; undefined where the sequence starts with it. */
  readonly after: bigint | undefined;
  /** The lowest sequence that is waited for where nothing of the key is known; undefined: the key starts with whatever comes first. */
  readonly first?: bigint | undefined;
  /** How many events of the key are held at most. */
  readonly maxEvents: number;
  /** How long it is held at most. */
  readonly maxMs: number;
  /** What was given up before it. */
  readonly gap?: Gap | undefined;
  /** It came after its place in the sequence had been passed. */
  readonly late?: boolean | undefined;
}

/** A place in the sequence of a key whose event was answered and is not stored: nobody waits for it. */
export interface FilledPlace extends Pick<HoldMark, "generation" | "sequence" | "after"> {
  readonly tenant: string;
  readonly source: string;
  readonly key: string;
}

/** An event that may have a place in the sequence of its key. */
export interface MarkedEvent {
  readonly tenant: string;
  readonly source: string;
  readonly key?: string | undefined;
  readonly receipt?: { readonly hold?: HoldMark | undefined } | undefined;
}

/** The place that an event fills without being stored; undefined where it has none. */
export function filledBy({ tenant, source, key, receipt }: MarkedEvent): FilledPlace | undefined {
  if (receipt?.hold === undefined || key === undefined) return undefined;
  const { generation, sequence, after } = receipt.hold;
  return { tenant, source, key, generation, sequence, after };
}

/**
 * The place that a duplicate or a conflict fills; undefined where it has none, and where the event that was stored before
 * has the same place: it may still wait for its turn, and those behind it would pass it.
 */
export function filledByAnother(event: MarkedEvent, stored: readonly MarkedEvent[]): FilledPlace | undefined {
  const place = filledBy(event);
  return stored.some((each) => isSamePlace(filledBy(each), place)) ? undefined : place;
}

/** Whether both are the same place of the same key; of no place, whether neither is one. */
export function isSamePlace(one: FilledPlace | undefined, two: FilledPlace | undefined): boolean {
  if (one === undefined || two === undefined) return one === two;
  return (
    one.tenant === two.tenant &&
    one.source === two.source &&
    one.key === two.key &&
    one.generation === two.generation &&
    one.sequence === two.sequence
  );
}

/** A mark as JSON has it. */
export interface StoredHoldMark {
  readonly generation: string;
  readonly sequence: string;
  readonly after?: string | undefined;
  readonly first?: string | undefined;
  readonly maxEvents: number;
  readonly maxMs: number;
  readonly gap?: { readonly from: string; readonly to: string; readonly because: Gap["because"] } | undefined;
  readonly late?: boolean | undefined;
}

export function storedMark({ generation, sequence, after, first, gap, ...rest }: HoldMark): StoredHoldMark {
  return {
    ...rest,
    generation: String(generation),
    sequence: String(sequence),
    after: after === undefined ? undefined : String(after),
    first: first === undefined ? undefined : String(first),
    gap: gap && { from: String(gap.from), to: String(gap.to), because: gap.because },
  };
}

export function readMark({ generation, sequence, after, first, gap, ...rest }: StoredHoldMark): HoldMark {
  return {
    ...rest,
    generation: BigInt(generation),
    sequence: BigInt(sequence),
    after: after === undefined ? undefined : BigInt(after),
    first: first === undefined ? undefined : BigInt(first),
    gap: gap && { from: BigInt(gap.from), to: BigInt(gap.to), because: gap.because },
  };
}

/** The largest number that every database keeps. */
export const LARGEST_SEQUENCE: bigint = 2n ** 63n - 1n;
