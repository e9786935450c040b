import { asObject } from "../json.js";

/** An entry that was looked at and is neither applied nor known. */
export interface Unsettled {
  readonly id: string;
  readonly atMs: number;
}

/** What a repair remembers between two runs. Everything before the cursor is settled but for what is named here. */
export interface Progress {
  readonly cursorMs: number;
  /** Those that were tried longest ago first. */
  readonly unsettled: readonly Unsettled[];
}

/** How many entries are remembered one by one. With more, the cursor waits before the first that has no room. */
export const MOST_UNSETTLED = 1000;

/** What is remembered of a run's failures. */
export interface Carried {
  readonly unsettled: readonly Unsettled[];
  /** The time of the oldest failure that found no room; undefined where all did. */
  readonly heldMs: number | undefined;
}

/**
 * Earlier failures always have room, because the cursor has passed them: without their names nobody would look at them again.
 * Later ones wait in the window.
 */
export function carry(earlier: readonly Unsettled[], later: readonly Unsettled[]): Carried {
  const room = Math.max(0, MOST_UNSETTLED - earlier.length);
  const left = later.slice(room);
  return {
    unsettled: [...earlier, ...later.slice(0, room)],
    heldMs: left.length === 0 ? undefined : Math.min(...left.map(({ atMs }) => atMs)),
  };
}

/** As the store keeps it: instants are text that a person can read. */
export function progressText({ cursorMs, unsettled }: Progress): string {
  return JSON.stringify({
    cursor: isoOf(cursorMs),
    unsettled: unsettled.map(({ id, atMs }) => [id, isoOf(atMs)]),
  });
}

/** A text that cannot be read counts as none: what somebody else wrote under the name must not move the window. */
export function parseProgress(text: string | undefined): Progress | undefined {
  try {
    const found = asObject(JSON.parse(text ?? "null"));
    const { cursor, unsettled } = found ?? {};
    if (!Array.isArray(unsettled)) return undefined;
    return { cursorMs: msOf(cursor), unsettled: unsettled.map(unsettledOf) };
  } catch {
    return undefined;
  }
}

function unsettledOf(value: unknown): Unsettled {
  const [id, at] = value as readonly unknown[];
  if (typeof id !== "string") throw new TypeError("an entry without an id");
  return { id, atMs: msOf(at) };
}

function msOf(at: unknown): number {
  const ms = typeof at === "string" ? Date.parse(at) : Number.NaN;
  if (Number.isNaN(ms)) throw new TypeError("no instant");
  return ms;
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
