import { matcherOf } from "../pattern.js";
import type { RetryPolicy } from "../work/retry-policy.js";
import type { DeadPolicy } from "./dead.js";

/** A handler in the host's process, as a consumer of lanes. */
export interface HandlerConsumer {
  /** `hnd_…`: the name that the host gave it. */
  readonly id: string;
  /** Patterns of the sources whose stored events it gets, of every tenant. */
  readonly sources: readonly string[];
  /** Patterns of the types that this version of the host has handlers for. */
  readonly types: readonly string[];
  /** What is in order: the events of one tenant, source and key, or none. */
  readonly order: "key" | "none";
  readonly retry: RetryPolicy;
  /** Undefined: `halt` in a lane, `skip` where there is none. */
  readonly dead: DeadPolicy | undefined;
  /** How many of its claims a worker may hold at once. */
  readonly maxInFlight: number;
}

/** What one version of the host has said that it handles. */
export interface HandlerVersion {
  readonly types: readonly string[];
  /** Milliseconds since 1970, by the store's clock. */
  readonly at: number;
}

/** A handler as its store keeps it. */
export interface RegisteredHandler extends Omit<HandlerConsumer, "types"> {
  readonly kind: "handler";
  /** The newest first. */
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
 * Whether another version of the host has lately said that it handles a type. Not the word of this version itself: that names
 * types without their sources, so an event of another source that has no handler here would wait for ever.
 */
export function isHandledByOther(
  { versions }: Pick<RegisteredHandler, "versions">,
  own: Pick<HandlerConsumer, "types">,
  { type, nowMs }: { readonly type: string; readonly nowMs: number },
): boolean {
  return versions.some(
    ({ types, at }) => nowMs - at < VERSION_COUNTS_MS && !isSame(types, own.types) && matcherOf(types)(type),
  );
}

/** What a registration makes of a handler; undefined where it changes nothing, so that starting a process writes nothing. */
export function registered(
  before: RegisteredHandler | undefined,
  wanted: HandlerConsumer,
  nowMs: number,
): RegisteredHandler | undefined {
  const { types, ...definition } = wanted;
  const known = before?.versions ?? [];
  const own = known.find((each) => isSame(each.types, types));
  const isSaid = own !== undefined && nowMs - own.at < SAID_AGAIN_MS && nowMs >= own.at;
  if (before !== undefined && isSaid && isSame(definitionOf(before), definition)) return undefined;
  const others = known.filter((each) => each !== own && nowMs - each.at < VERSION_COUNTS_MS);
  return {
    kind: "handler",
    ...definition,
    versions: [{ types, at: nowMs }, ...others],
    state: before?.state ?? "active",
    because: before?.because,
    pausedUntil: before?.pausedUntil,
    pausedBy: before?.pausedBy,
    version: (before?.version ?? 0) + 1,
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

function definitionOf(handler: RegisteredHandler): Omit<HandlerConsumer, "types"> {
  const { id, sources, order, retry, dead, maxInFlight } = handler;
  return { id, sources, order, retry, dead, maxInFlight };
}

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

/** The handler of a worker that was given no names. It shares the rows of the inbox with the receiver's own handlers. */
export const DEFAULT_HANDLER = "hnd_default";

/** The name that the host gave a handler; `default` where it gave none. */
export function consumerName(id: string): string {
  return id.replace(/^hnd_/, "");
}

/**
 * Under which consumer the inbox knows a handler. The default one has the rows of the in-transaction receiver: an event
 * that came once in each mode, during a migration from one to the other, is applied once.
 */
export function inboxConsumerOf(id: string): string {
  return id === DEFAULT_HANDLER ? "" : consumerName(id);
}
