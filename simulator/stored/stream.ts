/** Chance, as far as a stream needs it. */
export interface StreamChance {
  /** A whole number from 0 up to, but not including, `end`. */
  below(end: number): number;
}

/** An event of a stream, as it is sent. */
export interface StreamEvent {
  readonly key: string;
  /** Where the event stands among those of its key that are sent: 0, 1, 2 and so on. */
  readonly place: number;
  /** Where the event stands at its origin, which sends in another order and leaves some out. */
  readonly version: number;
}

/** The events of one key, in the order in which they are sent. */
export type KeyStream = readonly StreamEvent[];

const WINDOW = 6;
const MISSING_ONE_IN = 40;
const LATE_ONE_IN = 25;

/** A reordered stream with gaps: some versions never come, some come last, and the others within a few places of their own. */
export function createStream(
  { keys, versions }: { readonly keys: number; readonly versions: number },
  chance: StreamChance,
): readonly KeyStream[] {
  return Array.from({ length: keys }, (_, n) => keyStream(`k${n}`, versions, chance));
}

function keyStream(key: string, versions: number, chance: StreamChance): KeyStream {
  const sent: { readonly version: number; readonly at: number }[] = [];
  for (let version = 1; version <= versions; version++) {
    if (version > 1 && chance.below(MISSING_ONE_IN) === 0) continue;
    const late = chance.below(LATE_ONE_IN) === 0 ? versions : 0;
    sent.push({ version, at: version + late + chance.below(WINDOW) });
  }
  return sent.toSorted((a, b) => a.at - b.at).map(({ version }, place) => ({ key, place, version }));
}
