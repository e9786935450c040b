import type { IncomingMessage } from "node:http";
import { utf8 } from "../bytes.js";
import { doubtOfText } from "./request-rules.js";
import type { BodyReading } from "./request-rules.js";

const CURE =
  "mount the listener before express.json() and the like, or use express.raw({ type: () => true }) on its path, " +
  "or keep the bytes with express.json({ verify: (request, _, bytes) => { request.rawBody = bytes; } }); " +
  "in Koa, mount it before the body parser; in an API route of Next.js, export const config = { api: { bodyParser: false } }";

/**
 * Reads the body's exact bytes: those that a framework kept, else the stream. Never throws, never reads more than
 * the limit, and never destroys the request.
 */
export function readNodeBody(
  request: IncomingMessage,
  maxBytes: number,
  cure: string = CURE,
): Promise<BodyReading> | BodyReading {
  const { rawBody, body } = request as { rawBody?: unknown; body?: unknown };
  if (rawBody instanceof Uint8Array) return { kind: "bytes", bytes: rawBody };
  if (body instanceof Uint8Array) return { kind: "bytes", bytes: body };
  // Not whether there is a `body`: Express 4 puts `{}` there also where it read nothing.
  if (request.readableDidRead || request.readableEncoding !== null)
    return keptByH3(request, leftOf(rawBody, body, cure));
  if (isBare(request)) return { kind: "bytes", bytes: EMPTY };
  if (request.destroyed) return { kind: "broken" };
  return new Promise((resolve) => {
    readStream(request, maxBytes, { bodyRead: resolve });
    // Node's own request keeps an error that nobody listens for to itself; those of test kits and serverless
    // adapters throw it out of the event loop. The listener stays, for one that comes late.
    request.on("error", onClose);
  });
}

/** What a parser left of a body that it read. Text is tried: it has the exact bytes, unless they were not UTF-8. */
function leftOf(rawBody: unknown, body: unknown, cure: string): BodyReading {
  const text = typeof rawBody === "string" ? rawBody : body;
  if (typeof text === "string" && text !== "")
    return { kind: "bytes", bytes: utf8(text), doubt: doubtOfText(text, cure) };
  return { kind: body === undefined || body === null ? "consumed" : "parsed", cure };
}

// Where h3 1, and so Nuxt 4, keeps the bytes once a middleware has called readBody().
const H3_RAW_BODY = Symbol.for("h3RawBody");

async function keptByH3(request: IncomingMessage, left: BodyReading): Promise<BodyReading> {
  try {
    const bytes: unknown = await (request as { [H3_RAW_BODY]?: unknown })[H3_RAW_BODY];
    return bytes instanceof Uint8Array ? { kind: "bytes", bytes } : left;
  } catch {
    // The middleware's reading failed, and that is its own affair.
    return left;
  }
}

/** Whether the request came whole and without a body: its stream may have ended before an adapter looks at it. */
function isBare(request: IncomingMessage): boolean {
  // Over HTTP/2 a body needs no header that announces it.
  return request.complete && request.httpVersionMajor === 1 && !hasBody(request);
}

/** Whether the request has a body, read or not. */
export function hasBody(request: IncomingMessage): boolean {
  return request.headers["transfer-encoding"] !== undefined || (announcedBytes(request) ?? 0) > 0;
}

/** How many bytes the sender says it will send; undefined where it does not say. */
export function announcedBytes({ headers }: IncomingMessage): number | undefined {
  const length = headers["content-length"];
  return length === undefined ? undefined : Number(length);
}

/** What reading a stream can come to. */
export type StreamReading = Exclude<BodyReading, { kind: "consumed" | "parsed" }>;

/** Told how the reading ended, once. */
export interface BodyListener {
  bodyRead(reading: StreamReading): void;
}

const EMPTY = new Uint8Array();
const NONE: Uint8Array[] = [];
const LEAST_GROWN = 256;
// Half of what Node reads at once.
const LARGE_PIECE = 32 * 1024;
const TOO_LARGE: StreamReading = { kind: "too_large" };
const BROKEN: StreamReading = { kind: "broken" };

/**
 * Reads the exact bytes of a body up to a limit, whatever its content type says. What comes beyond the limit is dropped.
 *
 * Not `for await`: leaving such a loop early destroys the request, the connection would be closed over unread bytes and
 * so reset, and the sender would never see its 413.
 */
export function readStream(request: IncomingMessage, maxBytes: number, listener: BodyListener): void {
  // A stated length is refused before the first byte, an unstated one as soon as it passes the limit.
  if ((announcedBytes(request) ?? 0) > maxBytes) return listener.bodyRead(TOO_LARGE);
  (request as ReadRequest)[READING] = {
    maxBytes,
    listener,
    bytes: 0,
    before: NONE,
    last: EMPTY,
    lastBytes: 0,
  };
  // Errors end in `close`, too. The listeners are functions of the module, not of the request: to make three of them for
  // each event costs more than to read it.
  request.on("data", onData).on("end", onEnd).on("close", onClose);
}

interface Reading {
  readonly maxBytes: number;
  readonly listener: BodyListener;
  /** In all. */
  bytes: number;
  /** Pieces that are large enough to stay where they are. */
  before: Uint8Array[];
  /** What came after them. One piece as it came; from the second on, memory that is larger than what is read. */
  last: Uint8Array;
  lastBytes: number;
}

const READING = Symbol("reading");

/** A request, with the reading of its body until that has ended. In a WeakMap it would cost a tenth of the whole request. */
type ReadRequest = IncomingMessage & { [READING]?: Reading | undefined };

function onData(this: ReadRequest, chunk: Uint8Array): void {
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

// One piece is most often the whole body, and stays what it is. Further small ones are copied: each would else be three
// objects that live as long as its request, which somebody may send byte by byte. Large ones are not: whoever sends a body
// that is refused at its limit would make us write it twice before that, and the collector run for it.
function take(reading: Reading, chunk: Uint8Array): void {
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

function append(reading: Reading, chunk: Uint8Array): void {
  const { last, lastBytes } = reading;
  const total = lastBytes + chunk.length;
  // A piece as it came may be a part of something larger that is not ours: it is full.
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

function finish(request: ReadRequest, end: StreamReading): void {
  const reading = request[READING];
  request[READING] = undefined;
  reading?.listener.bodyRead(end);
}
