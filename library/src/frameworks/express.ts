import type { IncomingMessage, ServerResponse } from "node:http";
import type { Receiver } from "../inbox/receiver.js";
import type { FrameworkErrorCode } from "./framework-errors.js";
import { sendNode, serveNode } from "./node.js";
import { checkMounted, checkNoOptions, refuseAs } from "./request-rules.js";
import type { Doubt } from "./request-rules.js";

/** Express's `next`. */
export type ExpressNext = (error?: unknown) => void;
/** A handler for `app.use`, `app.post` and routers of Express 4 and 5. */
export type ExpressHandler = (request: IncomingMessage, response: ServerResponse, next: ExpressNext) => void;
/** A handler of errors, for `app.use`. */
export type ExpressErrorHandler = (
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  next: ExpressNext,
) => void;

const SOURCE = /^\/([a-z0-9_-]{1,64})\/?(?:\?|$)/i;

/**
 * Answers `POST <mount path>/<source>` for every source of the receiver. Mount it before body parsers: it needs the bytes
 * as they came. Requests for other paths go on to the next handler.
 *
 * @example
 * app.use("/webhooks", webhooks(receiver));
 * app.use(express.json());
 */
export function webhooks(receiver: Receiver): ExpressHandler;
export function webhooks(receiver: Receiver, ...options: readonly unknown[]): ExpressHandler {
  checkMounted(receiver);
  checkNoOptions("webhooks of posthorn/express", options);
  return (request, response, next) => {
    const source = sourceOf(request);
    if (source === undefined) return next();
    void serveNode({ receiver, source }, request, response);
  };
}

/** By the route's own parameter, or by what follows the mount path. */
function sourceOf(request: IncomingMessage): string | undefined {
  const { params } = request as { params?: Readonly<Record<string, unknown>> };
  const named = params?.["source"];
  return typeof named === "string" ? named : SOURCE.exec(request.url ?? "")?.[1];
}

// What Express's parsers fail with, and what it means for a webhook.
const PARSER_FAILURES: ReadonlyMap<unknown, FrameworkErrorCode> = new Map([
  ["entity.too.large", "body_limited"],
  ["entity.parse.failed", "body_parsed"],
  ["entity.verify.failed", "body_parsed"],
  ["charset.unsupported", "body_parsed"],
  ["encoding.unsupported", "body_parsed"],
  ["parameters.too.many", "body_parsed"],
]);

/**
 * Names the failures of body parsers that stand before the webhooks: Express would answer them by itself, and the sender's
 * log would be the only place that shows it. Mount it on the same path, after the webhooks.
 *
 * @example
 * app.use("/webhooks", express.raw({ type: () => true, limit: "25mb" }), webhooks(receiver), webhookErrors(receiver));
 */
export function webhookErrors(receiver: Receiver): ExpressErrorHandler {
  checkMounted(receiver);
  return (error, request, response, next) => {
    const failure = failureOfParser(error, "mount the webhooks before it");
    if (failure === undefined) return next(error);
    sendNode(request, response, refuseAs(receiver, sourceOf(request) ?? "unknown", failure));
  };
}

/** What the error of a body parser means for a webhook; undefined for errors of other origin. */
export function failureOfParser(error: unknown, cure: string): Doubt | undefined {
  const { type, limit } = Object(error) as { type?: unknown; limit?: unknown };
  const code = PARSER_FAILURES.get(type);
  if (code === undefined) return undefined;
  const why =
    code === "body_limited"
      ? `a parser before the webhooks takes ${String(limit)} bytes at most: raise its limit, or ${cure}`
      : `a parser before the webhooks failed (${String(type)}): ${cure}`;
  return { code, why };
}
