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

/** The promise's value, or a throw of `handler_deadline` as soon as the signal aborts; its later end is then ignored. */
export function beforeAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(handlerDeadline(signal.reason));
    const settle = (): void => signal.removeEventListener("abort", stop);
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    promise.then(resolve, reject).finally(settle);
  });
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
