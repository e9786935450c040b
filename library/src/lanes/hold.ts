import type { Gap, HoldMark } from "../hold-mark.js";

/** How far the events of a key have come. */
export interface Progress {
  readonly generation: bigint;
  /** The highest sequence that was let go. */
  readonly last: bigint;
}

/** A place whose event was answered and is not stored: a duplicate, a conflict, or a stale one. It counts as come. */
export type Filled = Pick<HoldMark, "generation" | "sequence" | "after">;

/** How many filled places of a key are kept that its events have not passed; one that is forgotten is waited for, as if it had not come. */
export const MOST_FILLED = 10_000;

/** What becomes of an event whose turn may not have come. */
export type Turn =
  /** Its turn is now; the key has come this far with it. */
  | { readonly kind: "free"; readonly progress: Progress }
  /** Its place was passed: it goes now, and is told that it is late. */
  | { readonly kind: "late" }
  /** Those before it have not come. */
  | { readonly kind: "held" };

/**
 * Whether the turn of an event has come. The first event that is seen of a key starts its sequence, unless its mark says
 * with which one the key starts.
 */
export function turnOf(known: Progress | undefined, mark: HoldMark, filled: readonly Filled[] = []): Turn {
  const { generation, sequence } = mark;
  const progress = known ?? startOf(mark);
  const free: Turn = { kind: "free", progress: { generation, last: sequence } };
  if (progress === undefined || generation > progress.generation) return free;
  if (generation < progress.generation || sequence <= progress.last) return { kind: "late" };
  return missingAfter(progress.last, mark, filled) === undefined ? free : { kind: "held" };
}

/** How far a key has come of which nothing is known. */
function startOf({ generation, first }: HoldMark): Progress | undefined {
  return first === undefined ? undefined : { generation, last: first - 1n };
}

/** What has not come between the last that was let go and an event, from its first sequence to its last; undefined where nothing is missing. */
function missingAfter(last: bigint, mark: HoldMark, filled: readonly Filled[]): Missing | undefined {
  const before = beforeOf(mark);
  if (before === undefined || before <= last) return undefined;
  const between = filled.filter(
    ({ generation, sequence }) => generation === mark.generation && sequence > last && sequence <= before,
  );
  let reached = last;
  let missing: Missing | undefined;
  for (const { sequence, after = reached } of [
    ...between.toSorted(inSequence),
    { sequence: before, after: before },
  ]) {
    if (after > reached) missing = { from: missing?.from ?? reached + 1n, to: after };
    reached = sequence;
  }
  return missing;
}

type Missing = Pick<Gap, "from" | "to">;

/** The sequence after which its turn comes; what was given up before it is not waited for again. */
function beforeOf({ after, gap }: HoldMark): bigint | undefined {
  return gap === undefined ? after : gap.from - 1n;
}

/** An event that is held. */
export interface HeldEvent {
  /** Undefined where the event itself is gone. */
  readonly mark: HoldMark | undefined;
  /** Whether it has waited for as long as it may. */
  readonly isDue: boolean;
  /** Whether a person has released it. */
  readonly isReleased?: boolean;
}

/** An event that is held no longer. */
export interface Freed<Held> {
  readonly held: Held;
  /** What was given up before it. */
  readonly gap: Gap | undefined;
}

/** An event whose turn is asked for, and what to do with it. */
export interface Arrival {
  readonly mark: HoldMark;
}

/** What becomes of the events of one key. */
export interface HoldPlan<Arrived, Held, Place = Filled> {
  readonly progress: Progress | undefined;
  /** In the order of their sequences. Its place was passed: the event is told so. */
  readonly going: readonly { readonly arrived: Arrived; readonly isLate: boolean }[];
  readonly holding: readonly Arrived[];
  /** Of those that were held already; their turns are asked for again. */
  readonly freed: readonly Freed<Held>[];
  /** Of those that have just come: they were held for no time at all, and their turns are asked for again. */
  readonly again: readonly Freed<Arrived>[];
  /** Filled places that nobody asks for any more. */
  readonly passed: readonly Place[];
}

/** What is known of a key. */
export interface KeyStanding<Held, Place> {
  readonly progress: Progress | undefined;
  readonly held: readonly Held[];
  readonly filled: readonly Place[];
}

/** Decides for one key: which of the arrivals go on, which are held, and which of those that are held are so no longer. */
export function planHold<Arrived extends Arrival, Held extends HeldEvent, Place extends Filled>(
  known: KeyStanding<Held, Place>,
  arrivals: readonly Arrived[],
): HoldPlan<Arrived, Held, Place> {
  const filled = known.filled.filter((place) => !isThere(place, [...known.held, ...arrivals]));
  let { progress } = known;
  const going: { arrived: Arrived; isLate: boolean }[] = [];
  const waiting: Arrived[] = [];
  for (const arrived of arrivals.toSorted((one, other) => inSequence(one.mark, other.mark))) {
    const { generation } = arrived.mark;
    // What is held of a generation before comes first; what is held of this one may wait for this very event.
    const isBehind = [...known.held, ...waiting].some(({ mark }) => mark && mark.generation < generation);
    const turn: Turn = isBehind ? { kind: "held" } : turnOf(progress, arrived.mark, filled);
    if (turn.kind === "held") waiting.push(arrived);
    else going.push({ arrived, isLate: turn.kind === "late" });
    if (turn.kind === "free") progress = turn.progress;
  }
  const fresh = waiting.map((arrived) => ({ mark: arrived.mark, isDue: false, arrived }));
  const free = freedOf<Held | (typeof fresh)[number]>(progress, [...known.held, ...fresh], filled);
  const again: Freed<Arrived>[] = [];
  const freed: Freed<Held>[] = [];
  for (const { held, gap } of free) {
    if ("arrived" in held && fresh.includes(held)) again.push({ held: held.arrived, gap });
    else freed.push({ held: held as Held, gap });
  }
  const isAgain = new Set(again.map(({ held }) => held));
  const holding = waiting.filter((each) => !isAgain.has(each));
  return { progress, going, holding, freed, again, passed: passedOf(progress, known.filled) };
}

/** Whether the event of a place is here, and another delivery of it has filled the place: those behind it wait for the event itself. */
function isThere(place: Filled, events: readonly { readonly mark: HoldMark | undefined }[]): boolean {
  return events.some(({ mark }) => mark !== undefined && inSequence(mark, place) === 0);
}

/** Those that the events of the key have passed, and the lowest of too many. A filled place alone lets nobody pass: an event that is below it may still wait for its places. */
function passedOf<Place extends Filled>(
  progress: Progress | undefined,
  filled: readonly Place[],
): readonly Place[] {
  const last = progress && { generation: progress.generation, sequence: progress.last };
  const isPassed = (place: Place): boolean => last !== undefined && inSequence(place, last) <= 0;
  const ahead = filled.filter((place) => !isPassed(place)).toSorted(inSequence);
  return [...filled.filter(isPassed), ...ahead.slice(0, Math.max(0, ahead.length - MOST_FILLED))];
}

/** A queue of staged events without those that do not go on; those of one key stand by their sequences, where its events stood. */
export function goingOn<Staged>(
  queue: readonly Staged[],
  plans: readonly HoldPlan<Arrival & { readonly staged: Staged }, HeldEvent>[],
): readonly Staged[] {
  const ways = new Map<Staged, Staged[]>();
  for (const { going, holding, again } of plans) {
    const way = going.map(({ arrived }) => arrived.staged);
    const stay = [...holding, ...again.map(({ held }) => held)].map(({ staged }) => staged);
    for (const staged of [...way, ...stay]) ways.set(staged, way);
  }
  return queue.flatMap((staged) => {
    const way = ways.get(staged);
    if (way === undefined) return [staged];
    const next = way.shift();
    return next === undefined ? [] : [next];
  });
}

/** Which of the held events of a key are held no longer, in the order of their sequences. */
export function freedOf<Held extends HeldEvent>(
  progress: Progress | undefined,
  held: readonly Held[],
  filled: readonly Filled[],
): readonly Freed<Held>[] {
  const gone = held.filter(({ mark }) => mark === undefined).map((each) => ({ held: each, gap: undefined }));
  const waiting = held
    .flatMap((each) => (each.mark === undefined ? [] : [{ held: each, mark: each.mark }]))
    .toSorted((one, other) => inSequence(one.mark, other.mark));
  const freed: Freed<Held>[] = [];
  const marks = waiting.map(({ mark }) => mark);
  const givesUp = givenUp(marks, {
    due: waiting.findLastIndex((each) => each.held.isDue),
    released: waiting.findLastIndex((each) => each.held.isReleased === true),
  });
  let reached = progress;
  for (const [index, { held: each, mark }] of waiting.entries()) {
    const turn = turnOf(reached, mark, filled);
    const because = givesUp(index);
    if (turn.kind === "held" && because === undefined) break;
    const from = reached ?? startOf(mark);
    const missing = turn.kind === "held" && from ? missingAfter(from.last, mark, filled) : undefined;
    freed.push({ held: each, gap: missing && because && { ...missing, because } });
    if (turn.kind !== "late") reached = { generation: mark.generation, last: mark.sequence };
  }
  return [...gone, ...freed];
}

/** Why those before an event are waited for no longer; undefined where they are. */
function givenUp(
  marks: readonly HoldMark[],
  last: { readonly due: number; readonly released: number },
): (index: number) => Gap["because"] | undefined {
  const [first] = marks;
  const tooMany = first === undefined ? 0 : marks.length - first.maxEvents;
  const newest = marks.at(-1)?.generation;
  return (index) => {
    if (index <= last.released) return "operator";
    if (index <= last.due) return "time";
    if (index < tooMany) return "number";
    return marks[index]?.generation === newest ? undefined : "restart";
  };
}

/**
 * The sequences directly before a held event that have not come; undefined where it waits for none but those that are
 * held before it.
 */
export function missingBefore(
  mark: HoldMark,
  known: {
    readonly progress: Progress | undefined;
    /** The highest sequence of its generation below it that is held too. */
    readonly heldBefore: bigint | undefined;
    readonly filled: readonly Filled[];
  },
): Missing | undefined {
  const { heldBefore, filled } = known;
  const progress = known.progress ?? startOf(mark);
  const last = progress?.generation === mark.generation ? progress.last : undefined;
  const reached = heldBefore ?? last;
  return reached === undefined ? undefined : missingAfter(reached, mark, filled);
}

type Standing = Pick<HoldMark, "generation" | "sequence">;

/** By generation, then by sequence. */
export function inSequence(one: Standing, other: Standing): number {
  const [left, right] =
    one.generation === other.generation ? [one.sequence, other.sequence] : [one.generation, other.generation];
  return left < right ? -1 : left > right ? 1 : 0;
}
