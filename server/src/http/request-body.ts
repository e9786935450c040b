import type { IncomingMessage } from "node:http";

/** What came of reading a body. */
export type BodyReading =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  /** Not read to its end. */
  | { readonly kind: "too_large" }
  /** The connection broke, or its time ran out, before it was complete. */
  | { readonly kind: "broken" };

const EMPTY = new Uint8Array();
const TOO_LARGE: BodyReading = { kind: "too_large" };
const BROKEN: BodyReading = { kind: "broken" };

/** How many bytes the sender says it will send; undefined where it does not say. */
export function announcedBytes(request: IncomingMessage): number | undefined {
  const length = request.headers["content-length"];
  return length === undefined ? undefined : Number(length);
}

/**
 * Reads the exact bytes of a body up to a limit, whatever its content type says: a framework's parser refuses types that
 * it cannot read, and a provider's event would be lost for a header that nobody needs. Calls back once.
 */
export function readRawBody(
  request: IncomingMessage,
  maxBytes: number,
  done: (reading: BodyReading) => void,
): void {
  if ((announcedBytes(request) ?? 0) > maxBytes) return done(TOO_LARGE);
  new BodyReader(request, maxBytes, done).start();
}

class BodyReader {
  readonly #request: IncomingMessage;
  readonly #maxBytes: number;
  readonly #done: (reading: BodyReading) => void;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(request: IncomingMessage, maxBytes: number, done: (reading: BodyReading) => void) {
    this.#request = request;
    this.#maxBytes = maxBytes;
    this.#done = done;
  }

  start(): void {
    this.#request
      .on("data", this.#onData)
      .on("end", this.#onEnd)
      .on("error", this.#onBroken)
      .on("close", this.#onBroken);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) this.#finish(TOO_LARGE);
    else this.#chunks.push(chunk);
  };

  // Copied even where it is one piece: that is a part of a buffer of the socket's, which it would keep in memory.
  readonly #onEnd = (): void =>
    this.#finish({
      kind: "bytes",
      bytes: this.#bytes === 0 ? EMPTY : Buffer.concat(this.#chunks, this.#bytes),
    });

  readonly #onBroken = (): void => this.#finish(BROKEN);

  #finish(reading: BodyReading): void {
    this.#request
      .off("data", this.#onData)
      .off("end", this.#onEnd)
      .off("error", this.#onBroken)
      .off("close", this.#onBroken)
      // An error that comes later has nobody to hear it, and would end the process.
      .on("error", ignored);
    this.#done(reading);
  }
}

function ignored(): void {
  // The reply is on its way; what becomes of the rest of the body is the connection's own matter.
}
