import type { IncomingMessage, ServerResponse } from "node:http";
import type { Receiver } from "../inbox/receiver.js";
import { failureOfParser } from "./express.js";
import type { ExpressErrorHandler, ExpressHandler, ExpressNext } from "./express.js";
import { streamOf } from "./fastify.js";
import { readFor, SOURCE_PARAMETER } from "./nest-request.js";
import { sendNode } from "./node.js";
import { refuseAs, refuseBody } from "./request-rules.js";

// Nest's parsers stand before every route, and what they refuse (a form above 100 kB, JSON with the key `__proto__`) is
// answered by Nest: the event would be lost, and no observer would hear of it. So the webhooks' bytes are read before them.

/** What of Nest's adapter is used here. */
interface HttpAdapter {
  getType(): string;
  getInstance(): unknown;
}

/** Whose bytes are read. */
interface Mount {
  readonly receiver: Receiver;
  /** How the path of the route ends, as it is registered: a global prefix and versions stand before it. */
  readonly route: string;
}

/** Reads the bytes of the webhooks' requests before Nest's parsers do; other routes are parsed as before. */
export function readBeforeParsers(adapter: HttpAdapter | undefined, receiver: Receiver, path: string): void {
  const mount = { receiver, route: `${path.replace(/^\/?/, "/").replace(/\/$/, "")}/:${SOURCE_PARAMETER}` };
  if (adapter?.getType() === "express") readOnExpress(adapter.getInstance() as ExpressApp, mount);
  if (adapter?.getType() === "fastify") readOnFastify(adapter.getInstance() as FastifyApp, mount);
}

/** What of a layer of Express's router is used here. */
interface Layer {
  readonly name?: string;
  readonly route?: { readonly path: unknown; readonly methods: Readonly<Record<string, unknown>> };
  readonly params?: Readonly<Record<string, unknown>>;
  match(path: string): boolean;
}

interface ExpressApp {
  readonly router?: { readonly stack: Layer[] };
  /** That of Express 4, whose `router` throws. */
  readonly _router?: { readonly stack: Layer[] };
  use(handler: ExpressHandler): unknown;
  use(handler: ExpressErrorHandler): unknown;
}

/** The names of Express's parsers, by which Nest, too, finds out which are there. */
const PARSERS: ReadonlySet<unknown> = new Set(["jsonParser", "urlencodedParser", "rawParser", "textParser"]);
const PARSER_CURE = "leave the path of the webhooks out of it";

function readOnExpress(app: ExpressApp, { receiver, route }: Mount): void {
  const stack = (app._router ?? app.router)?.stack ?? [];
  const sourceOf = sourceByRoute(stack, route);
  if (sourceOf === undefined) return;
  const firstParser = stack.findIndex(({ name }) => PARSERS.has(name));
  if (firstParser !== -1) {
    app.use((request: IncomingMessage, response: ServerResponse, next: ExpressNext) => {
      const source = sourceOf(request);
      if (source === undefined) return next();
      void readAhead({ receiver, source, request, response }, next);
    });
    // Not at the very front: a middleware of the host that reads the body itself would wait for it for ever.
    stack.splice(firstParser, 0, ...stack.splice(-1));
  }
  // Before Nest's own, which would answer what a parser of the host refused, and the observer would hear nothing.
  app.use(((error, request, response, next) => {
    const source = sourceOf(request);
    const failure = source === undefined ? undefined : failureOfParser(error, PARSER_CURE);
    if (source === undefined || failure === undefined) return next(error);
    sendNode(request, response, refuseAs(receiver, source, failure));
  }) satisfies ExpressErrorHandler);
}

/** Reads the webhooks' source from a request's path, by Express's own matching; undefined where no route is ours. */
function sourceByRoute(
  stack: readonly Layer[],
  route: string,
): ((request: IncomingMessage) => string | undefined) | undefined {
  const ours = stack.filter((layer) => pathOf(layer)?.endsWith(route) === true);
  const [first] = ours;
  if (first === undefined) return undefined;
  // A route of the host for one path of ours, `/webhooks/legacy` say, needs its body parsed. One with parameters is a
  // middleware, which goes on to ours; if it were not, ours would never be called.
  const others = stack.slice(0, stack.indexOf(first)).filter((layer) => isOneOf(ours, pathOf(layer) ?? ""));
  return ({ method, url = "" }) => {
    if (method !== "POST") return undefined;
    const path = /^(?:https?:\/\/[^/?#]*)?([^?#]*)/i.exec(url)?.[1] ?? "";
    const layer = ours.find((each) => matches(each, path));
    if (layer === undefined || others.some((other) => matches(other, path))) return undefined;
    return String(layer.params?.[SOURCE_PARAMETER]);
  };
}

/** Whether a route's path has no parameters, and a route of ours matches it. */
function isOneOf(ours: readonly Layer[], path: string): boolean {
  return !/[:*(){}]/.test(path) && ours.some((layer) => matches(layer, path));
}

/** The path of a route that takes POST, as it is registered. */
function pathOf({ route }: Layer): string | undefined {
  const { path, methods } = route ?? {};
  const takesPosts = methods?.["post"] === true || methods?.["_all"] === true;
  return takesPosts && typeof path === "string" ? path : undefined;
}

function matches(layer: Layer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    // Of a path that cannot be decoded. Express meets it again, and answers it.
    return false;
  }
}

/** A request for the webhooks, on Express. */
interface Arrival {
  readonly receiver: Receiver;
  readonly source: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Never rejects. */
async function readAhead(arrival: Arrival, next: ExpressNext): Promise<void> {
  const { receiver, source, request, response } = arrival;
  const reading = await readFor(receiver, source, { request });
  if (reading.kind === "too_large" || reading.kind === "broken") {
    // Not left to the route: the parsers between would read on, and refuse by a limit of their own.
    return sendNode(request, response, refuseBody(receiver, source, reading));
  }
  // `_body` tells the parsers of Express 4 that there is nothing left to read; those of Express 5 see the stream's end.
  // `body` is what those of Express 4 leave where they parse nothing: a global interceptor may look into it.
  const { body = {} } = request as { body?: unknown };
  Object.assign(request, { _body: true, body });
  if (reading.kind === "bytes") keepBytes(request, reading.bytes);
  next();
}

/** As Nest keeps them, for guards and interceptors. */
function keepBytes(request: object, bytes: Uint8Array): void {
  Object.assign(request, { rawBody: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) });
}

/** What of a Fastify request is used here. */
interface FastifyRequest {
  readonly raw: IncomingMessage & { [SOURCE]?: Asked };
  readonly method: string;
  readonly params: unknown;
  readonly routeOptions: { readonly url?: string };
  headers: object;
}

type Done = (error: Error | null, body?: unknown) => void;

interface FastifyApp {
  hasContentTypeParser(type: string): boolean;
  addContentTypeParser(
    type: string,
    parser: (request: FastifyRequest, payload: IncomingMessage, done: Done) => void,
  ): void;
  addHook(
    name: "preParsing",
    hook: (request: FastifyRequest, reply: unknown, payload: unknown, done: () => void) => void,
  ): void;
}

/** What the hook leaves for the parser. */
interface Asked {
  readonly receiver: Receiver;
  readonly source: string;
  readonly headers: object;
}

const SOURCE = Symbol("source");

/** The type that a request for the webhooks has while Fastify chooses its parser. */
const UNPARSED = "application/vnd.posthorn.unparsed";

function readOnFastify(app: FastifyApp, { receiver, route }: Mount): void {
  app.addHook("preParsing", (request, _reply, _payload, done) => {
    const { raw, headers, params, method, routeOptions } = request;
    if (method === "POST" && routeOptions.url?.endsWith(route) === true) {
      const source = String((params as Readonly<Record<string, unknown>>)[SOURCE_PARAMETER]);
      raw[SOURCE] = { receiver, source, headers };
      // Fastify keeps these beside those of Node's request, which stay what they are.
      request.headers = { ...headers, "content-type": UNPARSED };
    }
    done();
  });
  if (!app.hasContentTypeParser(UNPARSED)) app.addContentTypeParser(UNPARSED, readUnparsed);
}

/** The parser of `UNPARSED`. */
function readUnparsed(request: FastifyRequest, payload: IncomingMessage, done: Done): void {
  const { raw } = request;
  const asked = raw[SOURCE];
  // Sent by somebody to another route.
  if (asked === undefined) return done(unsupportedType());
  request.headers = asked.headers;
  void readPayload(request, streamOf({ raw, body: payload }), { asked, done });
}

/** Never rejects. */
async function readPayload(
  request: FastifyRequest,
  payload: IncomingMessage,
  { asked: { receiver, source }, done }: { readonly asked: Asked; readonly done: Done },
): Promise<void> {
  const reading = await readFor(receiver, source, { request: request.raw, payload });
  if (reading.kind === "bytes") keepBytes(request, reading.bytes);
  done(null);
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
