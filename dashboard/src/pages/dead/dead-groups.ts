import type { DeadLetter } from "posthorn/client";
import { deadReason } from "../../words/words.ts";

/** Which dead letters are looked at; what is left out does not matter. */
export interface DeadFilter {
  readonly endpoint?: string | undefined;
  readonly because?: string | undefined;
  /** As `deadReason` says it. */
  readonly reason?: string | undefined;
  readonly type?: string | undefined;
}

export function filtered(letters: readonly DeadLetter[], filter: DeadFilter): readonly DeadLetter[] {
  return letters.filter(
    (letter) =>
      fits(filter.endpoint, letter.endpointId) &&
      fits(filter.because, letter.because) &&
      fits(filter.reason, deadReason(letter)) &&
      fits(filter.type, letter.type),
  );
}

function fits(wanted: string | undefined, found: string): boolean {
  return wanted === undefined || wanted === "" || wanted === found;
}

/** Dead letters of one endpoint that died of the same. */
export interface DeadGroup {
  readonly endpointId: string;
  readonly reason: string;
  readonly count: number;
  /** Those whose lanes wait for them. */
  readonly blocking: number;
}

/** The largest first. */
export function groupsOf(letters: readonly DeadLetter[]): readonly DeadGroup[] {
  const groups = new Map<string, DeadGroup>();
  for (const letter of letters) {
    const { endpointId, blocks } = letter;
    const reason = deadReason(letter);
    const key = JSON.stringify([endpointId, reason]);
    const before = groups.get(key) ?? { endpointId, reason, count: 0, blocking: 0 };
    groups.set(key, { ...before, count: before.count + 1, blocking: before.blocking + (blocks ? 1 : 0) });
  }
  return [...groups.values()].toSorted((left, right) => right.count - left.count);
}

/** What would be redriven: how many, where to, and what that means for their order. */
export interface Plan {
  /** Oldest first, which is the order in which they go. */
  readonly letters: readonly DeadLetter[];
  readonly endpoints: readonly string[];
  readonly inPlace: number;
  readonly atEnd: number;
  /** Older than a day: a receiver may have forgotten their ids. */
  readonly old: number;
}

const DAY_MS = 24 * 3600 * 1000;

export function planOf(chosen: readonly DeadLetter[], nowMs: number): Plan {
  const letters = chosen.toSorted((left, right) => Date.parse(left.diedAt) - Date.parse(right.diedAt));
  const inPlace = letters.filter(({ blocks }) => blocks).length;
  return {
    letters,
    endpoints: [...new Set(letters.map(({ endpointId }) => endpointId))],
    inPlace,
    atEnd: letters.length - inPlace,
    old: letters.filter(({ diedAt }) => nowMs - Date.parse(diedAt) > DAY_MS).length,
  };
}
