import type { IncomingMessage } from "node:http";

/** What came of reading a body. */
export type BodyReading =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  /** Not read to its end. */
  | { readonly kind: "too_large" }
  /** The connection broke, or its time ran out, before it was complete. */
  | { readonly kind: "broken" };

const EMPTY = new Uint8Array();
const NONE: Uint8Array[] = [];
const LEAST_GROWN = 256;
// Half of what Node reads at once.
const LARGE_PIECE = 32 * 1024;
const TOO_LARGE: BodyReading = { kind: "too_large" };
const BROKEN: BodyReading = { kind: "broken" };

/** How many bytes the sender says it will send; undefined where it does not say. */
export function announcedBytes(request: IncomingMessage): number | undefined {
  const length = request.headers["content-length"];
  return length === undefined ? undefined : Number(length);
}

/** Told how the reading ended, once. */
export interface BodyListener {
  bodyRead(reading: BodyReading): void;
}

/**
 * Reads the exact bytes of a body up to a limit, whatever its content type says: a framework's parser refuses types that
 * it cannot read, and a provider's event would be lost for a header that nobody needs.
 */
export function readRawBody(request: IncomingMessage, maxBytes: number, listener: BodyListener): void {
  if ((announcedBytes(request) ?? 0) > maxBytes) return listener.bodyRead(TOO_LARGE);
  (request as ReadRequest)[READING] = {
    maxBytes,
    listener,
    bytes: 0,
    before: NONE,
    last: EMPTY,
    lastBytes: 0,
  };
  // Without a listener of their own, errors are told by `close` alone. They are functions of the module, not of the
  // request: to make three of them for each event costs more than to read it.
  request.on("data", onData).on("end", onEnd).on("close", onClose);
}

interface Reading {
  readonly maxBytes: number;
  readonly listener: BodyListener;
  /** In all. */
  bytes: number;
  /** What is large enough to stay where it is. */
  before: Uint8Array[];
  /** What came after that. One piece as it came; from the second on, memory that is larger than what is read. */
  last: Uint8Array;
  lastBytes: number;
}

const READING = Symbol("reading");

/** A request, with the reading of its body until that has ended. In a WeakMap it would cost a tenth of the whole request. */
type ReadRequest = IncomingMessage & { [READING]?: Reading | undefined };

function onData(this: ReadRequest, chunk: Buffer): void {
  const reading = this[READING];
  if (reading === undefined) return;
  if (reading.bytes + chunk.length > reading.maxBytes) return finish(this, TOO_LARGE);
  take(reading, chunk);
  if (chunk.length >= LARGE_PIECE) letOthersIn(this);
}

// Node reads from one connection as long as there is something, up to two megabytes. Everybody else would wait for it.
function letOthersIn(request: IncomingMessage): void {
  request.pause();
  setImmediate(goOn, request);
}

function goOn(request: IncomingMessage): void {
  request.resume();
}

// One piece is most often all of it, and stays what it is. Further small ones are copied: each would else be three objects
// that live as long as its request, which somebody may send byte by byte. Large ones are not: whoever sends a body that is
// refused at its limit would make us write it twice before that, and the collector run for it.
function take(reading: Reading, chunk: Buffer): void {
  reading.bytes += chunk.length;
  if (reading.lastBytes >= LARGE_PIECE || (reading.lastBytes > 0 && chunk.length >= LARGE_PIECE))
    setAside(reading);
  if (reading.lastBytes === 0) reading.last = chunk;
  else append(reading, chunk);
  reading.lastBytes += chunk.length;
}

function setAside(reading: Reading): void {
  if (reading.before === NONE) reading.before = [];
  reading.before.push(reading.last.subarray(0, reading.lastBytes));
  reading.lastBytes = 0;
}

function append(reading: Reading, chunk: Buffer): void {
  const { last, lastBytes } = reading;
  const total = lastBytes + chunk.length;
  // What came as one piece may be a part of something larger that is not ours: it is full.
  if (last.length < total) {
    reading.last = Buffer.allocUnsafeSlow(Math.max(2 * total, LEAST_GROWN));
    reading.last.set(last.subarray(0, lastBytes));
  }
  reading.last.set(chunk, lastBytes);
}

function onEnd(this: ReadRequest): void {
  const reading = this[READING];
  if (reading !== undefined) finish(this, { kind: "bytes", bytes: whole(reading) });
}

/** Node gives each piece memory of its own; one that is a part of something larger would keep that in memory too. */
function whole({ bytes, before, last, lastBytes }: Reading): Uint8Array {
  if (bytes === 0) return EMPTY;
  if (lastBytes === bytes && last.buffer.byteLength === bytes) return last;
  const all = new Uint8Array(bytes);
  let at = 0;
  for (const piece of before) {
    all.set(piece, at);
    at += piece.length;
  }
  all.set(last.subarray(0, lastBytes), at);
  return all;
}

function onClose(this: ReadRequest): void {
  finish(this, BROKEN);
}

function finish(request: ReadRequest, end: BodyReading): void {
  const reading = request[READING];
  request[READING] = undefined;
  reading?.listener.bodyRead(end);
}
