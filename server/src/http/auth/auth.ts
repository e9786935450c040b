import type { FastifyReply, FastifyRequest } from "fastify";
import type { TokenRecord } from "../../store/token.js";
import type { Scope, TokenCheck } from "./token-check.js";

const tokens = new WeakMap<FastifyRequest, TokenRecord>();

/** A hook before the body is read: whoever may not ask is not listened to. Reading needs `read`, all else `full`. */
export function requireToken(
  check: TokenCheck,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return async (request) => {
    const needed: Scope = request.method === "GET" || request.method === "HEAD" ? "read" : "full";
    tokens.set(request, await check.require(request.headers.authorization, request.ip, needed));
  };
}

/** The token of a request that has passed the hook. */
export function tokenOf(request: FastifyRequest): TokenRecord {
  const token = tokens.get(request);
  if (token === undefined) throw new Error(`${request.url} is not behind requireToken`);
  return token;
}
