import { environmentHere } from "../environment.js";
import type { Observer, Signal } from "../observer.js";
import { WORKER_GONE_MS } from "../worker-gone.js";

/** The part that was given no observer. */
export interface Unobserved {
  readonly part: "receiver" | "worker" | "repair";
  /** The keys of its handlers. */
  readonly handlers: readonly string[];
}

/**
 * The observer of a receiver, a worker or a repair that was given none. Replies tell strangers nothing, so that a wrong secret or a handler that
 * throws would leave no trace at all: outside of production each kind of problem is told once, on stderr.
 */
export function unobserved(
  { part, handlers }: Unobserved,
  environment: string | undefined = environmentHere(),
): Observer | undefined {
  if (environment === "production") return undefined;
  const told = new Set<string>();
  const ofTypes = new Map<string, number>();
  return (signal) => {
    const problem = problemIn(signal, handlers);
    if (problem === undefined || told.has(problem.kind)) return;
    const { ofType } = problem;
    if (ofType !== undefined) {
      const types = (ofTypes.get(ofType) ?? 0) + 1;
      ofTypes.set(ofType, types);
      if (types > MAX_TYPES) return;
    }
    told.add(problem.kind);
    // oxlint-disable-next-line no-console -- without an observer there is no other way to tell
    console.warn(
      `posthorn: ${problem.text}\n  This is told once. An \`observer\` of the ${part} hears every one.`,
    );
  };
}

interface Problem {
  /** Told once. Of no text that a sender chooses, which could be another one each time. */
  readonly kind: string;
  readonly text: string;
  /** Of a kind that is told for each type of events: of so many types at most. */
  readonly ofType?: string;
}

// A provider sends dozens of types that a host does not want, or that belong to no order.
const MAX_TYPES = 10;
const MAX_KEYS = 50;

const UNWELL: ReadonlySet<string> = new Set(["failed", "unavailable", "saturated", "conflict", "stale"]);

/** By type: the first that nobody handles may be meant so, and the next be the one with the typo. */
function skippedProblem(
  { source, type, id }: { readonly source: string; readonly type: string; readonly id: string },
  handlers: readonly string[],
): Problem {
  const keys = handlers.slice(0, MAX_KEYS).map((key) => JSON.stringify(key));
  const colon = handlers.includes(type)
    ? ` In a key, what stands before a colon is a source: write ${JSON.stringify(`${source}:${type}`)}.`
    : "";
  const text = `${source}:${type} ${id} skipped: no handler for ${type}; there is one for ${keys.join(", ") || "nothing"}.${colon}`;
  return { kind: `skipped ${source} ${type}`, text, ofType: "skipped" };
}

/** Some types have no key and need none: those stay as they are. */
function keylessProblem({
  source,
  type,
  id,
  place,
}: Extract<Signal, { readonly kind: "key_missing" }>): Problem {
  const text =
    `${source}:${type} ${id} has no key: neither a text nor a number stands at ${place}. It is handled in no order. ` +
    `If its type needs one, mend \`key\` of the source ${JSON.stringify(source)}.`;
  return { kind: `keyless ${source} ${type}`, text, ofType: "keyless" };
}

function handledProblem(
  signal: Extract<Signal, { readonly kind: "event_handled" }>,
  handlers: readonly string[],
): Problem | undefined {
  const { source, type, id, consumer, outcome, attempt, why = "", stack = "" } = signal;
  if (outcome === "skipped") {
    const skipped = skippedProblem(signal, handlers);
    return { ...skipped, text: `hnd_${consumer}: ${skipped.text}` };
  }
  if (outcome !== "failed") return undefined;
  const text =
    `hnd_${consumer}: ${source}:${type} ${id} failed, attempt ${attempt}: ${why}\n${stack}`.trimEnd();
  return { kind: `handled ${consumer} ${outcome}`, text };
}

function deadProblem(signal: Extract<Signal, { readonly kind: "delivery_dead" }>): Problem {
  const { kind, endpoint, source, type, id, providerId = id, delivery, because, policy } = signal;
  const named = source === undefined ? type : `${source}:${type}`;
  const again = `createOperator({ store }).redrive(${JSON.stringify(delivery)})`;
  const text = `${endpoint} has given up ${named} ${providerId}, ${because}; its lane: ${policy}. Once mended, it runs again: ${again}`;
  return { kind: `${kind} ${endpoint}`, text };
}

function missingProblem(signal: Extract<Signal, { readonly kind: "worker_missing" }>): Problem {
  const { kind, source, type, id, consumers } = signal;
  const stored = `${source}:${type} ${id} is stored, and`;
  const start = "await createWorker({ store, handlers }).start()";
  const names = consumers.join(", ");
  const text =
    consumers.length === 0
      ? `${stored} no worker has registered handlers for ${source} yet: ${start}.`
      : `${stored} it waits for ${names}, which no worker has had for ${WORKER_GONE_MS / 60_000} minutes: ${start}; or, where your code no longer has it, createOperator({ store }).remove().`;
  return { kind: `${kind} ${source} ${names}`, text };
}

/** Undefined for what goes well, and for what a receiver does not say. */
function problemIn(signal: Signal, handlers: readonly string[]): Problem | undefined {
  const { kind } = signal;
  if (kind === "signature_refused") {
    const { scheme, code, message, diagnosis } = signal;
    const text = [`A request (${scheme}) was refused, ${code}: ${message}`, ...diagnosis].join("\n  ");
    return { kind: `${kind} ${scheme} ${code}`, text };
  }
  if (kind === "request_refused") {
    const { status, why } = signal;
    return { kind: `${kind} ${status}`, text: `A request was refused with ${status}: ${why}.` };
  }
  if (kind === "event_received" && UNWELL.has(signal.verdict)) {
    const { source, type, id, verdict, why = "", stack } = signal;
    const text = `${source}:${type} ${id} ${verdict}: ${why}`;
    return { kind: `${kind} ${source} ${verdict}`, text: stack === undefined ? text : `${text}\n${stack}` };
  }
  if (kind === "event_received" && signal.verdict === "skipped") return skippedProblem(signal, handlers);
  if (kind === "event_handled") return handledProblem(signal, handlers);
  if (kind === "key_missing") return keylessProblem(signal);
  if (kind === "worker_missing") {
    return missingProblem(signal);
  }
  if (kind === "delivery_dead") return deadProblem(signal);
  if (kind === "repair_failed") {
    const { source, log, message } = signal;
    return { kind: `${kind} ${source} ${log}`, text: `The repair of ${source} has failed: ${message}` };
  }
  if (kind === "store_failed") {
    const { operation, code, message } = signal;
    return {
      kind: `${kind} ${operation} ${code}`,
      text: `The store failed in ${operation}, ${code}: ${message}`,
    };
  }
  return undefined;
}
