import type { IncomingMessage } from "node:http";
import type { Receiver, Reply } from "../inbox/receiver.js";
import { PosthornError } from "../posthorn-error.js";
import type { FrameworkErrorCode } from "./framework-errors.js";
import { hangUp } from "./hang-up.js";
import { hasBody, readNodeBody } from "./node-body.js";
import { receiveNode } from "./node.js";
import { allowsBody, checkMounted, checkNoOptions, refuseError } from "./request-rules.js";

/** What of a Fastify request is used here. */
export interface FastifyRequest {
  readonly raw: IncomingMessage;
  readonly body: unknown;
  readonly params: unknown;
}

/** What of a Fastify reply is used here. */
export interface FastifyReply {
  code(status: number): FastifyReply;
  header(name: string, value: string): FastifyReply;
  send(body?: string): FastifyReply;
}

/** What of a Fastify instance is used here. */
export interface FastifyInstance {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    type: string,
    parser: (
      request: never,
      payload: IncomingMessage,
      done: (error: Error | null, body?: unknown) => void,
    ) => void,
  ): void;
  post(
    path: string,
    handler: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>,
  ): unknown;
}

/** A plug-in for `app.register`. */
export type FastifyPlugin = (app: FastifyInstance, options: unknown, done: (error?: Error) => void) => void;

/** How `fastify-plugin` marks a plug-in that shall have no context of its own. */
const SKIP_OVERRIDE = Symbol.for("skip-override");

const CURE =
  "register the plug-in of posthorn/fastify, which has a parser of its own, and let no preParsing or onRequest hook read the request";

/**
 * Answers `POST <prefix>/<source>` for every source of the receiver. The plug-in has a context of its own, in which every
 * content type is left unparsed; the host's parsers stay as they are.
 *
 * @example
 * await app.register(webhooks(receiver), { prefix: "/webhooks" });
 */
export function webhooks(receiver: Receiver): FastifyPlugin;
export function webhooks(receiver: Receiver, ...options: readonly unknown[]): FastifyPlugin {
  checkMounted(receiver);
  checkNoOptions("webhooks of posthorn/fastify", options);
  const plugin: FastifyPlugin = (app, _options, done) => {
    if (SKIP_OVERRIDE in plugin) return done(notEncapsulated());
    app.removeAllContentTypeParsers();
    // Not parsed into a Buffer by Fastify: it knows one limit for a route, and each source has its own.
    app.addContentTypeParser("*", (_request, payload, parsed) => parsed(null, payload));
    app.post("/:source", (request, reply) => answer(receiver, request, reply));
    done();
  };
  return plugin;
}

async function answer(
  receiver: Receiver,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const source = String((request.params as { source?: unknown }).source);
  try {
    const { raw } = request;
    const reading = await readNodeBody(streamOf(request), receiver.maxBodyBytes(source), CURE);
    return sendFastify(raw, reply, await receiveNode(receiver, source, raw, reading));
  } catch (error) {
    return sendFastify(request.raw, reply, refuseError(receiver, error));
  }
}

/** The body as it comes: a hook may have put another stream before it. A request without a body has none. */
export function streamOf({ body, raw }: Omit<FastifyRequest, "params">): IncomingMessage {
  if (body === raw || typeof body !== "object" || body === null) return raw;
  const stream = body as IncomingMessage;
  // The limit is read from the headers, which a stream of a hook does not have.
  return Object.assign(stream, { headers: stream.headers ?? {} });
}

/** Writes a reply by Fastify, so that its hooks see it. */
export function sendFastify(raw: IncomingMessage, reply: FastifyReply, answered: Reply): FastifyReply {
  reply.code(answered.status);
  for (const [name, value] of Object.entries(answered.headers ?? {})) reply.header(name, value);
  // The rest of the body would be taken for the next request's beginning.
  if (hasBody(raw) && !raw.readableEnded && hangUp(raw)) reply.header("connection", "close");
  return allowsBody(answered.status) ? reply.send(answered.body ?? "") : reply.send();
}

function notEncapsulated(): PosthornError<FrameworkErrorCode> {
  return new PosthornError(
    "plugin_not_encapsulated",
    "The webhooks are wrapped by fastify-plugin, so that their parser would replace those of the whole application. " +
      'Register them without it: app.register(webhooks(receiver), { prefix: "/webhooks" }).',
  );
}
