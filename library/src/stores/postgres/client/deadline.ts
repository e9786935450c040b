import type { InboxErrorCode } from "../../../inbox/inbox-errors.js";
import { isPosthornError, PosthornError } from "../../../posthorn-error.js";

// Every event passes through both: they make two promises each, where `Promise.race` with `finally` would make six.

/** The promise's value, or `undefined` when it takes longer; its later end is then the caller's to handle. */
export function within<T>(promise: PromiseLike<T>, ms: number): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, undefined);
    const inTime = afterwards(() => clearTimeout(timer));
    promise.then(inTime(resolve), inTime(reject));
  });
}

/** The promise's value, or a throw of `handler_deadline` as soon as the signal aborts; its later end is then ignored. */
export function beforeAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(handlerDeadline(signal.reason));
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    const inTime = afterwards(() => signal.removeEventListener("abort", stop));
    promise.then(inTime(resolve), inTime(reject));
  });
}

function afterwards(cleanUp: () => void) {
  return <V>(settle: (value: V) => void): ((value: V) => void) =>
    (value) => {
      cleanUp();
      return settle(value);
    };
}

function handlerDeadline(reason: unknown): PosthornError {
  // The receiver's own error says how long the handler had.
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
