import { isPosthornError } from "./posthorn-error.js";

const MAX_LENGTH = 2000;
// As V8 writes them, and as JavaScriptCore does.
const FRAME = /^\s*at |@.*:\d+:\d+$/;
const OWN = /[/\\]node_modules[/\\]posthorn[/\\]/;

/** What was thrown, in words. Handlers may throw anything, also what cannot be made into a text. */
export function describeThrown(thrown: unknown): string {
  try {
    const text = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : `thrown: ${String(thrown)}`;
    return text.slice(0, MAX_LENGTH);
  } catch {
    return `thrown: a value of type ${typeof thrown} that cannot be shown as text`;
  }
}

/**
 * The host's frames alone: the words before them are told as `why`, and a driver's may be many. Our own errors say what to
 * mend, and their frames are none of the host's.
 */
export function framesOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || isPosthornError(thrown) || typeof thrown.stack !== "string")
    return undefined;
  const frames = thrown.stack.split("\n").filter((line) => FRAME.test(line) && !OWN.test(line));
  return frames.length === 0 ? undefined : frames.join("\n").slice(0, MAX_LENGTH);
}
