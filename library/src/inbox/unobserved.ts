import { environmentHere } from "../environment.js";
import type { Observer, Signal } from "../observer.js";

/**
 * The observer of a receiver that was given none. Replies tell strangers nothing, so that a wrong secret or a handler that
 * throws would leave no trace at all: outside of production each kind of problem is told once, on stderr.
 */
export function unobserved(environment: string | undefined = environmentHere()): Observer | undefined {
  if (environment === "production") return undefined;
  const told = new Set<string>();
  return (signal) => {
    const problem = problemIn(signal);
    if (problem === undefined || told.has(problem.kind)) return;
    told.add(problem.kind);
    // oxlint-disable-next-line no-console -- without an observer there is no other way to tell
    console.warn(
      `posthorn: ${problem.text}\n  This is told once. An \`observer\` of the receiver hears every one.`,
    );
  };
}

interface Problem {
  /** Told once. Of no text that a sender chooses, which could be another one each time. */
  readonly kind: string;
  readonly text: string;
}

const UNWELL: ReadonlySet<string> = new Set(["failed", "unavailable", "saturated", "conflict", "stale"]);

/** Undefined for what goes well, and for what a receiver does not say. */
function problemIn(signal: Signal): Problem | undefined {
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
    const { source, type, id, verdict, why = "" } = signal;
    return { kind: `${kind} ${source} ${verdict}`, text: `${source}:${type} ${id} ${verdict}: ${why}` };
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
