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
  const handler: ExpressHandler = (request, response, next) => {
    const source = sourceOf(request);
    if (source !== undefined) return void serveNode({ receiver, source }, request, response);
    const why = misplaced(request, handler);
    if (why !== undefined)
      response.once("finish", () => {
        // Another handler of the host may have answered.
        const { statusCode: status } = response;
        if (status === 404) receiver.refuse("unknown", { status, code: "source_unnamed", why });
      });
    next();
  };
  return handler;
}

/** What Express says of a request beside what Node does. */
interface Placed {
  readonly params?: Readonly<Record<string, unknown>>;
  /** The path at which the handler is mounted: what stands behind it is the request's `url`. */
  readonly baseUrl?: string;
  /** The last route that had the request: of this handler, or of another before it. */
  readonly route?: { readonly path?: unknown; readonly stack?: readonly { readonly handle?: unknown }[] };
}

/** Why no request that comes to this place can name a source; undefined where others can. Express would answer 404, and nobody would be told. */
function misplaced(request: IncomingMessage, handler: ExpressHandler): string | undefined {
  const { baseUrl = "", route } = request as Placed;
  if (request.method !== "POST") return undefined;
  if (route?.stack?.some(({ handle }) => handle === handler) === true)
    return `the route ${JSON.stringify(route.path)} of webhooks(receiver) names no source; expected app.use("/webhooks", webhooks(receiver)), or a route with the parameter source: "/webhooks/:source"`;
  if (baseUrl === "" || !/^\/?(?:\?|$)/.test(request.url ?? "")) return undefined;
  return `nothing stands behind the path ${JSON.stringify(baseUrl)} at which webhooks(receiver) is mounted, so no source is named; mount it a step higher: app.use("/webhooks", webhooks(receiver)) answers POST /webhooks/<source>`;
}

/** By the route's own parameter, or by what follows the mount path. */
function sourceOf(request: IncomingMessage): string | undefined {
  const { params } = request as Placed;
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
