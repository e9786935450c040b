import type { IncomingMessage, ServerResponse } from "node:http";
import type { Receiver } from "../inbox/receiver.js";
import { sendFastify } from "./fastify.js";
import type { FastifyReply } from "./fastify.js";
import { readNodeBody } from "./node-body.js";
import { receiveNode, sendNode } from "./node.js";
import { refuseError } from "./request-rules.js";
import type { BodyReading } from "./request-rules.js";

/** No host names a parameter so: a route of its own that ends as ours does is none of ours, and needs its body parsed. */
export const SOURCE_PARAMETER = "posthornSource";

const CURE =
  "let no middleware, hook or outer application read the request before Nest does, or, where one has to, keep the bytes as " +
  "request.rawBody: Nest does so itself with NestFactory.create(AppModule, { rawBody: true })";

/** A request of Nest on Express, or on Fastify, which has Node's own inside. */
interface NestRequest {
  readonly raw?: IncomingMessage;
  readonly rawBody?: unknown;
  readonly body?: unknown;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Answers one request on whichever platform. Never rejects. */
export async function answerNest(receiver: Receiver, request: object, response: object): Promise<void> {
  const { raw = request as IncomingMessage, params } = request as NestRequest;
  const source = String(params?.[SOURCE_PARAMETER]);
  const onFastify = raw !== request;
  try {
    const reading = (raw as ReadRequest)[READING] ?? (await readLate(receiver, source, request));
    const reply = await receiveNode(receiver, source, raw, reading);
    if (onFastify) sendFastify(raw, response as FastifyReply, reply);
    else sendNode(raw, response as ServerResponse, reply);
  } catch (error) {
    const reply = refuseError(receiver, error);
    if (onFastify) sendFastify(raw, response as FastifyReply, reply);
    else sendNode(raw, response as ServerResponse, reply);
  }
}

/** Behind Nest's parsers, where `readBeforeParsers` found no place before them. */
function readLate(receiver: Receiver, source: string, request: object): Promise<BodyReading> | BodyReading {
  const { raw = request as IncomingMessage, rawBody, body } = request as NestRequest;
  // Fastify keeps what was read in its own request.
  if (raw !== request) Object.assign(raw, { rawBody, body: body === raw ? undefined : body });
  return readNodeBody(raw, receiver.maxBodyBytes(source), CURE);
}

const READING = Symbol("reading");

/** Node's request, with what was read of its body before Nest's parsers. */
type ReadRequest = IncomingMessage & { [READING]?: BodyReading };

/**
 * Reads the body of a request for the webhooks, and keeps what came of it for `answerNest`. `payload` is the stream of
 * Fastify's hooks, if one of them put another before the request's own.
 */
export async function readFor(
  receiver: Receiver,
  source: string,
  { request, payload = request }: { readonly request: IncomingMessage; readonly payload?: IncomingMessage },
): Promise<BodyReading> {
  const reading = await readNodeBody(payload, receiver.maxBodyBytes(source), CURE);
  (request as ReadRequest)[READING] = reading;
  return reading;
}
