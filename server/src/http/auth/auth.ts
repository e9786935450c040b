import type { FastifyReply, FastifyRequest } from "fastify";
import type { TokenRecord } from "../../store/token.js";
import { problem } from "../problem.js";
import type { SessionCheck } from "./session-check.js";
import { readCookie, writeCookie } from "./session-cookie.js";
import { checkSessionWrite } from "./session-writes.js";
import type { Scope, TokenCheck } from "./token-check.js";

const tokens = new WeakMap<FastifyRequest, TokenRecord>();

/**
 * A hook before the body is read: whoever may not ask is not listened to. Reading needs `read`, all else `full`. A
 * browser without a token may come with the cookie of a session instead.
 */
export function requireToken(
  check: TokenCheck,
  sessions?: SessionCheck,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return async (request, reply) => {
    const { authorization } = request.headers;
    const needed: Scope = request.method === "GET" || request.method === "HEAD" ? "read" : "full";
    const cookie = authorization === undefined && sessions !== undefined ? readCookie(request) : undefined;
    if (cookie === undefined || sessions === undefined) {
      tokens.set(request, await check.require(authorization, request.ip, needed));
      return;
    }
    if (needed === "full") checkSessionWrite(request);
    const open = await sessions.find(cookie, request.ip);
    if (open === undefined) {
      writeCookie(reply, "", 0);
      throw problem("unauthorised", "The session has ended. Sign in again.");
    }
    tokens.set(request, check.allow(open.token, needed));
  };
}

/** The token of a request that has passed the hook. */
export function tokenOf(request: FastifyRequest): TokenRecord {
  const token = tokens.get(request);
  if (token === undefined) throw new Error(`${request.url} is not behind requireToken`);
  return token;
}
