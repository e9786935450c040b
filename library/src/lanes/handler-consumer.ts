import type { DeadPolicy } from "./dead.js";

/** A handler in the host's process, as a consumer of lanes: what one version of the host says of it. */
export interface HandlerConsumer {
  /** `hnd_…`: the name that the host gave it. */
  readonly id: string;
  /** Patterns of the sources whose stored events it gets, of every tenant. */
  readonly sources: readonly string[];
  /** What it has handlers for, by the keys that the host wrote: a type, `*`, or either of them behind a source and a colon. */
  readonly types: readonly string[];
  /** What is in order: the events of one tenant, source and key, or none. */
  readonly order: "key" | "none";
  /** Undefined: `halt` in a lane, `skip` where there is none. */
  readonly dead: DeadPolicy | undefined;
}

/** What one version of the host has said of a handler. */
export interface HandlerVersion extends Omit<HandlerConsumer, "id"> {
  /** When it last said so: milliseconds since 1970, by the store's clock. */
  readonly at: number;
}

/**
 * A handler as its store keeps it. Its sources are those of all its versions, its order is by key where one of them says so,
 * and its dead policy is the one that holds back most.
 */
export interface RegisteredHandler extends Omit<HandlerConsumer, "types"> {
  readonly kind: "handler";
  /** Newest first, by when a version first said its words; to say them again changes no place. */
  readonly versions: readonly HandlerVersion[];
  readonly state: "active" | "paused" | "disabled";
  readonly because: string | undefined;
  /** When its pause ends by itself; undefined where it is not paused, or until an operator ends it. */
  readonly pausedUntil?: Date | undefined;
  /** The person who paused it; undefined where it is not paused, or a rule for errors has paused it. */
  readonly pausedBy?: string | undefined;
  /** Grows with each change. */
  readonly version: number;
  /** Random, and another one with each change, where the store can lose changes in a failover. */
  readonly mark?: string | undefined;
}

/** How long the word of a version counts beside others: a rolling deploy is over by then. */
export const VERSION_COUNTS_MS: number = 3_600_000;
// Registered again before its word ends, so that the restart of one process during a deploy takes nothing from another.
const SAID_AGAIN_MS = VERSION_COUNTS_MS / 2;

/**
 * What a registration makes of a handler; undefined where it changes nothing, so that starting a process writes nothing. During
 * a deploy versions speak in turns: a version that says the same again refreshes its own time and nothing of another, or the old
 * one would take from the new one the sources that it does not know. What was replaced goes an hour after it was last said.
 */
export function registered(
  before: RegisteredHandler | undefined,
  { id, sources, types, ...terms }: HandlerConsumer,
  nowMs: number,
): RegisteredHandler | undefined {
  // A host that writes them in another order says nothing else.
  const words = { sources: sources.toSorted(), types: types.toSorted(), ...terms };
  const known = before?.versions ?? [];
  const own = known.find((each) => isSame(each, { ...words, at: each.at }));
  const counting = known.filter((each) => each === own || nowMs - each.at < VERSION_COUNTS_MS);
  const isSaid = own !== undefined && nowMs - own.at < SAID_AGAIN_MS && nowMs >= own.at;
  if (isSaid && counting.length === known.length) return undefined;
  const said: HandlerVersion = { ...words, at: nowMs };
  const versions =
    own === undefined ? [said, ...counting] : counting.map((each) => (each === own ? said : each));
  return {
    kind: "handler",
    id,
    ...together(versions),
    versions,
    state: before?.state ?? "active",
    because: before?.because,
    pausedUntil: before?.pausedUntil,
    pausedBy: before?.pausedBy,
    version: (before?.version ?? 0) + 1,
  };
}

/** The sources of handlers that none had before: what was set aside for want of a handler may come from them, and from no other. */
export function gainedSources(
  before: readonly Pick<RegisteredHandler, "sources">[],
  after: readonly Pick<RegisteredHandler, "sources">[],
): readonly string[] {
  const known = new Set(before.flatMap(({ sources }) => sources));
  return [...new Set(after.flatMap(({ sources }) => sources))].filter((source) => !known.has(source));
}

// What was held back can go on later; what went on in spite of its order cannot be called back.
const HOLDS_BACK_MOST = ["halt", undefined, "park", "skip"] as const;

/** What counts while several versions of the host do: none of them may lose what it would get alone. */
function together(
  versions: readonly HandlerVersion[],
): Pick<RegisteredHandler, "sources" | "order" | "dead"> {
  return {
    sources: [...new Set(versions.flatMap(({ sources }) => sources))],
    order: versions.some(({ order }) => order === "key") ? "key" : "none",
    dead: HOLDS_BACK_MOST.find((policy) => versions.some(({ dead }) => dead === policy)),
  };
}

/** Of a consumer: whether it is stopped, until when, and why. Instants are those of the store's clock, in milliseconds. */
export interface Standing {
  readonly state: RegisteredHandler["state"];
  readonly untilMs: number | undefined;
  readonly because: string | undefined;
  /** The person who paused it; undefined where a rule has. */
  readonly by: string | undefined;
}

/** The state at a moment: a pause whose end has passed is over, whether or not anybody has written that down. Postgres says the same in SQL. */
export function stateAt(
  { state, untilMs }: Pick<Standing, "state" | "untilMs">,
  nowMs: number,
): Standing["state"] {
  return state === "paused" && untilMs !== undefined && untilMs <= nowMs ? "active" : state;
}

/**
 * What a pause makes of a handler; undefined where it changes nothing: of two pauses the one that ends later stays, with its
 * reason, one without an end stays until somebody ends it, and what is disabled stays so. Postgres says the same in SQL.
 */
export function pausedBy(
  before: Pick<Standing, "state" | "untilMs">,
  { forMs, because, by }: HandlerPause,
  nowMs: number,
): Standing | undefined {
  const untilMs = forMs === undefined ? undefined : nowMs + forMs;
  const isLonger = before.untilMs !== undefined && (untilMs === undefined || untilMs > before.untilMs);
  const mayPause = before.state === "active" || (before.state === "paused" && isLonger);
  return mayPause ? { state: "paused", untilMs, because, by } : undefined;
}

/** How a handler is to be paused. */
export interface HandlerPause {
  /** When it ends by itself; undefined: when somebody resumes the handler. */
  readonly forMs?: number | undefined;
  readonly because: string;
  /** The person who pauses it; undefined where a rule does. */
  readonly by?: string | undefined;
}

/** How a handler is to be removed. */
export interface HandlerRemoval {
  /** It stays where a worker has said within so long that it has the handler. */
  readonly unseenForMs: number;
  /** Why, and by whom, for whoever looks at its row later. */
  readonly because: string;
  readonly by?: string | undefined;
}

/** What became of a removal. `seen`: a worker has the handler, and nothing was changed. */
export type HandlerRemoved = "removed" | "seen" | "unknown";

function isSame(one: unknown, other: unknown): boolean {
  return text(one) === text(other);
}

/** With its fields in one order: what was read back from a database need not have the order in which it was written. */
function text(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    each !== null && typeof each === "object" && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
