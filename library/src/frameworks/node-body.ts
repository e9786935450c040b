import type { IncomingMessage } from "node:http";
import type { BodyReading } from "./request-rules.js";

const CURE =
  "mount the listener before express.json() and the like, or use express.raw({ type: () => true }) on its path, " +
  "or keep the bytes with express.json({ verify: (request, _, bytes) => { request.rawBody = bytes; } })";

/**
 * Reads the body's exact bytes: those that a framework kept, else the stream. Never throws, never reads more than
 * the limit, and never destroys the request.
 */
export function readNodeBody(request: IncomingMessage, maxBytes: number): Promise<BodyReading> | BodyReading {
  const { rawBody, body } = request as { rawBody?: unknown; body?: unknown };
  if (rawBody instanceof Uint8Array) return { kind: "bytes", bytes: rawBody };
  if (body instanceof Uint8Array) return { kind: "bytes", bytes: body };
  // Not whether there is a `body`: Express 4 puts `{}` there also where it read nothing.
  if (request.readableDidRead || request.readableEncoding !== null) return { kind: "consumed", cure: CURE };
  if (request.destroyed) return { kind: "broken" };
  // A stated length is refused before the first byte, an unstated one as soon as it passes the limit.
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return { kind: "too_large" };
  return readStream(request, maxBytes);
}

/** Whether the request has a body, read or not. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

// Not `for await`: leaving such a loop early destroys the request, and what the sender still sends could not be
// dropped: closing over unread bytes resets the connection, and the sender would never see its 413.
function readStream(request: IncomingMessage, maxBytes: number): Promise<BodyReading> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    const finish = (reading: BodyReading): void => {
      request.off("data", take);
      request.off("end", end);
      request.off("close", broke);
      resolve(reading);
    };
    const take = (chunk: Uint8Array): void => {
      length += chunk.length;
      chunks.push(chunk);
      if (length <= maxBytes) return;
      request.pause();
      finish({ kind: "too_large" });
    };
    const end = (): void => {
      const [only] = chunks;
      const bytes = only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, length);
      finish({ kind: "bytes", bytes });
    };
    const broke = (): void => finish({ kind: "broken" });
    request.on("data", take);
    request.on("end", end);
    request.on("close", broke);
    // Node's own request keeps an error that nobody listens for to itself; those of test kits and serverless
    // adapters throw it out of the event loop. The listener stays, for one that comes late.
    request.on("error", broke);
  });
}
