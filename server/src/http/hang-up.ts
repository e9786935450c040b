import type { IncomingMessage } from "node:http";

/** How long a caller that was told no may go on with a body that nobody will read. */
export const LINGER_MS = 1000;

/**
 * Ends the connection of a refused request, unless the rest of its body comes soon. Not at once: a socket that is closed
 * with bytes unread is reset, and the reset takes back the reply that was just sent.
 */
export function hangUpSoon(request: IncomingMessage): void {
  const { "content-length": length = "0", "transfer-encoding": chunked } = request.headers;
  if (request.complete || (chunked === undefined && Number(length) === 0)) return;
  const timer = setTimeout(() => request.destroy(), LINGER_MS);
  timer.unref();
  const stop = (): void => clearTimeout(timer);
  request.once("end", stop).once("close", stop);
}
