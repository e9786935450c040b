/** A worker that has not said for so long that it has a handler is not there: it says so every minute. */
export const WORKER_GONE_MS = 180_000;
