import type { IncomingMessage, ServerResponse } from "node:http";
import type { Receiver } from "../inbox/receiver.js";
import { sendFastify } from "./fastify.js";
import type { FastifyReply } from "./fastify.js";
import { readNodeBody } from "./node-body.js";
import { receiveNode, sendNode } from "./node.js";
import { refuseError } from "./request-rules.js";

const CURE =
  "create the application with NestFactory.create(AppModule, { rawBody: true }), and let no guard, interceptor or " +
  "middleware before read the request itself";

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
  const source = String(params?.["source"]);
  const onFastify = raw !== request;
  if (onFastify) keepBody(raw, request);
  try {
    const reading = await readNodeBody(raw, receiver.maxBodyBytes(source), CURE);
    const reply = await receiveNode(receiver, source, raw, reading);
    if (onFastify) sendFastify(raw, response as FastifyReply, reply);
    else sendNode(raw, response as ServerResponse, reply);
  } catch (error) {
    const reply = refuseError(receiver, error);
    if (onFastify) sendFastify(raw, response as FastifyReply, reply);
    else sendNode(raw, response as ServerResponse, reply);
  }
}

/** Fastify keeps what was read in its own request. */
function keepBody(raw: IncomingMessage, { rawBody, body }: NestRequest): void {
  Object.assign(raw, { rawBody, body: body === raw ? undefined : body });
}

/** What of Nest's adapter is used here. */
interface HttpAdapter {
  getType(): string;
  getInstance(): unknown;
}

/** What of Fastify is used here. */
interface Parsing {
  hasContentTypeParser(type: string): boolean;
  addContentTypeParser(
    type: string,
    parser: (
      request: { readonly routeOptions: { readonly url?: string } },
      payload: unknown,
      done: (error: Error | null, body?: unknown) => void,
    ) => void,
  ): void;
}

/**
 * On Fastify, types without a parser are refused with 415 before any route: XML and octets would never arrive. Leaves those
 * of the webhooks unparsed, and refuses the others as before.
 */
export function leaveUnparsed(adapter: HttpAdapter | undefined, path: string): void {
  if (adapter?.getType() !== "fastify") return;
  const fastify = adapter.getInstance() as Parsing;
  if (fastify.hasContentTypeParser("*")) return;
  const route = `${path.replace(/^\/?/, "/").replace(/\/$/, "")}/:source`;
  fastify.addContentTypeParser("*", ({ routeOptions }, payload, done) => {
    if (routeOptions.url?.endsWith(route) === true) done(null, payload);
    else done(unsupportedType());
  });
}

function unsupportedType(): Error {
  const error = new Error("Unsupported Media Type");
  // As Fastify's own: Nest makes a reply of this status only from an error of this name.
  return Object.assign(error, {
    name: "FastifyError",
    code: "FST_ERR_CTP_INVALID_MEDIA_TYPE",
    statusCode: 415,
  });
}
