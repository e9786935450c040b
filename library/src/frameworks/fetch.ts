import { concat } from "../bytes.js";
import type { Receiver, Reply } from "../inbox/receiver.js";
import {
  allowsBody,
  checkDoor,
  doubtOfLength,
  refuseBody,
  refuseError,
  refusedMethod,
  sourceOf,
  unlessDoubtful,
} from "./request-rules.js";
import type { BodyReading, SourceChoice } from "./request-rules.js";

/** A handler for every runtime that speaks `Request` and `Response`: Next.js, Hono, Workers, Bun, Deno. */
export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * Answers webhooks given as `Request`. Never rejects.
 *
 * @example
 * export const POST = fetchHandler(receiver, { source: "stripe" });
 */
export function fetchHandler<Source extends string>(
  receiver: Receiver<Source>,
  options: { readonly source: SourceChoice<Request, NoInfer<Source>> },
): FetchHandler {
  checkDoor({ name: "fetchHandler", byFunction: true }, receiver, options);
  const { source } = options;
  return (request) => serveFetch({ receiver, source, read: readBody }, request);
}

/** What answers requests of the web. */
export interface FetchReading {
  readonly receiver: Receiver;
  readonly source: SourceChoice<Request>;
  readonly read: (request: Request, maxBytes: number) => Promise<BodyReading>;
}

/** Answers one request. Never rejects. */
export async function serveFetch(reading: FetchReading, request: Request): Promise<Response> {
  try {
    return toResponse(await answer(reading, request));
  } catch (error) {
    // The host's function for the source, say. What a framework makes of a rejection is anybody's guess.
    return toResponse(refuseError(reading.receiver, error));
  }
}

async function answer({ receiver, source: choice, read }: FetchReading, request: Request): Promise<Reply> {
  const refused = refusedMethod(request.method);
  if (refused !== undefined) return refused;
  const source = sourceOf(choice, request);
  const reading = await read(request, receiver.maxBodyBytes(source));
  if (reading.kind !== "bytes") return refuseBody(receiver, source, reading);
  const { headers, method, url } = request;
  const reply = await receiver.receive(source, { headers, body: reading.bytes, method, url });
  return unlessDoubtful(receiver, source, reading, reply);
}

const CURE =
  "let this handler be the first to read the request, or hand it `request.clone()` and read the other copy " +
  '(Elysia: give the route { parse: "none" }; h3 and Nuxt: no readBody() in a middleware before)';

/** Reads the exact bytes of a `Request`, up to a limit. */
export async function readBody(request: Request, maxBytes: number): Promise<BodyReading> {
  const { body } = request;
  if (request.bodyUsed || body?.locked === true) return { kind: "consumed", cure: CURE };
  if (body === null) return { kind: "bytes", bytes: new Uint8Array() };
  const tooLong = Number(request.headers.get("content-length") ?? 0) > maxBytes;
  const reader = body.getReader();
  try {
    if (tooLong) return stop(reader);
    const reading = await readAll(reader, maxBytes);
    if (reading.kind !== "bytes") return reading;
    return { ...reading, doubt: doubtOfLength(reading.bytes.length, request.headers.get("content-length")) };
  } catch {
    // The connection is gone, and with it whoever could read more than a status.
    return { kind: "broken" };
  }
}

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<BodyReading> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    length += next.value.length;
    if (length > maxBytes) return stop(reader);
    chunks.push(next.value);
  }
  return { kind: "bytes", bytes: concat(chunks) };
}

function stop(reader: ReadableStreamDefaultReader<Uint8Array>): BodyReading {
  // Not awaited: a stream whose end never comes must not keep the sender from its reply.
  reader.cancel().catch(() => {});
  return { kind: "too_large" };
}

function toResponse({ status, headers, body }: Reply): Response {
  return new Response(allowsBody(status) ? (body ?? null) : null, { status, headers: { ...headers } });
}
