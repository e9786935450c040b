import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { FastifyHttpOptions } from "fastify";
import type { Settings } from "../config/settings.js";
import { refuseRaw } from "./refused-connections.js";

// Ids have up to 255 characters, each of which may be escaped as three.
const MAX_PARAM_LENGTH = 765;
// Longer than what balancers wait between two requests would be nicer to them; shorter leaves fewer idle sockets.
const KEEP_ALIVE_MS = 5000;
// Node looks for late requests every 30 s; a request could take that much longer than its limit.
const CHECK_CONNECTIONS_MS = 250;

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** The limits of the HTTP server: what a caller without a token can cost. */
export function nodeServer(settings: Settings, listener: Listener): Server {
  const server = createServer(
    {
      maxHeaderSize: settings.maxHeaderBytes,
      requestTimeout: settings.requestTimeoutMs,
      // No less for the headers: a connection that waits costs a few kilobytes; ended sooner, it comes again sooner, and
      // costs half a millisecond each time.
      headersTimeout: settings.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(CHECK_CONNECTIONS_MS, settings.requestTimeoutMs),
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    listener,
  );
  server.maxConnections = settings.maxConnections;
  return server;
}

/** How the framework is to treat what comes to its routes. */
export function frameworkOptions(settings: Settings, nextId: () => string): FastifyHttpOptions<Server> {
  return {
    bodyLimit: settings.maxBodyBytes,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, caseSensitive: true, ignoreTrailingSlash: false },
    exposeHeadRoutes: false,
    // The address that the proxy before us saw; what stands further left in the header anybody can write.
    trustProxy: settings.behindProxy && ((_address: string, hop: number): boolean => hop === 0),
    // A caller's own id could be that of another request, or a line break in the log.
    requestIdHeader: false,
    genReqId: nextId,
    logger: false,
    clientErrorHandler: refuseRaw,
    ajv: {
      customOptions: {
        // A name that is not known is refused, not dropped; a text is not taken for a number.
        removeAdditional: false,
        coerceTypes: false,
        useDefaults: true,
        // Findings then hold the schema that they are of, from which the nearest right name is taken.
        verbose: true,
        // `type: ["string", "null"]` is what OpenAPI 3.1 wants.
        allowUnionTypes: true,
      },
    },
  };
}
