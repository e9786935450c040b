import type { InboxErrorCode } from "../../inbox/inbox-errors.js";
import { isPosthornError, PosthornError } from "../../posthorn-error.js";

/** The promise's value, or `undefined` when it takes longer; its later end is then the caller's to handle. */
export async function within<T>(promise: PromiseLike<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The promise's value, or a throw of `handler_deadline` as soon as the signal aborts. */
export async function beforeAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  // Its later failure has no one left to hear it, and would end the process as an unhandled rejection.
  promise.catch(ignore);
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(handlerDeadline(signal.reason));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    if (stop) signal.removeEventListener("abort", stop);
  }
}

function handlerDeadline(reason: unknown): PosthornError {
  // The receiver's own words know how long the handler had.
  if (isPosthornError(reason)) return reason;
  return new PosthornError<InboxErrorCode>(
    "handler_deadline",
    "The handler did not finish before its deadline; its transaction was rolled back. " +
      "Shorten the handler, or raise the deadline.",
    { cause: reason },
  );
}

export function ignore(): void {
  // For promises whose failure is reported elsewhere, or concerns no one any more.
}
