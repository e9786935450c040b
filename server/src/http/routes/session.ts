import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Session, SessionInput } from "posthorn/client";
import type { TokenRecord } from "../../store/token.js";
import type { ApiParts } from "../api-parts.js";
import { SESSION_S } from "../auth/session-check.js";
import { cookieName, readCookie, writeCookie } from "../auth/session-cookie.js";
import { checkOrigin, checkSessionWrite } from "../auth/session-writes.js";
import { problem } from "../problem.js";
import { showSession } from "../resources/session.js";
import { NOTHING, routeSchema } from "../route-schema.js";

const tag = "session";
// A token or a code fits; what a stranger may make this server read is small.
const BODY_LIMIT = 4096;
const PAGE = 1000;

/** /session: how a browser signs in and out. Whoever comes here has no token in a header yet. */
export function registerSession(api: FastifyInstance, parts: ApiParts): void {
  api.get("/session", { schema: GET }, (request) => read(parts, request));
  api.post<{ Body: SessionInput }>(
    "/session",
    { schema: CREATE, bodyLimit: BODY_LIMIT },
    async (request, reply) => reply.code(201).send(await create(parts, request.body, reply)),
  );
  api.delete("/session", { schema: REMOVE }, async (request, reply) => {
    await end(parts, request, reply);
    return reply.code(204).send();
  });
}

// Without a session it is no failure: a page has to ask before it can know.
async function read({ sessions }: ApiParts, request: FastifyRequest): Promise<Session> {
  const value = readCookie(request);
  return showSession(value === undefined ? undefined : await sessions.find(value, request.ip));
}

async function create(parts: ApiParts, input: SessionInput, reply: FastifyReply): Promise<Session> {
  const { request } = reply;
  checkOrigin(request, request.headers.origin);
  if (cookieName(request) === undefined) {
    throw problem(
      "session_refused",
      `Over plain HTTP, a session could be read on the way to ${request.hostname}. Use TLS (a proxy, and --behind-proxy), ` +
        "or a tunnel to this machine: ssh -L 8710:127.0.0.1:8710.",
    );
  }
  const token = await tokenFor(parts, input, request.ip);
  const value = await parts.sessions.open(token);
  writeCookie(reply, value, SESSION_S);
  return showSession(await parts.sessions.find(value, request.ip));
}

async function tokenFor(
  parts: ApiParts,
  { token, code }: SessionInput,
  address: string,
): Promise<TokenRecord> {
  if (token !== undefined) return parts.tokens.require(`Bearer ${token}`, address, "read");
  return parts.tokens.limited(address, async () => {
    if (!parts.codes.redeem(code ?? "")) return undefined;
    return firstFullToken(parts);
  });
}

/** Whoever reads the terminal of a start operates the server: the session has the rights of its oldest full token. */
async function firstFullToken({ registry, clock }: ApiParts): Promise<TokenRecord | undefined> {
  let oldest: TokenRecord | undefined;
  for (let after: string | undefined; ;) {
    const tokens = await registry.listTokens({ after, limit: PAGE });
    for (const token of tokens) {
      const usable = token.scope === "full" && (token.expiresAt?.getTime() ?? Infinity) > clock.now();
      if (usable && (oldest === undefined || token.createdAt < oldest.createdAt)) oldest = token;
    }
    if (tokens.length < PAGE) return oldest;
    after = tokens.at(-1)?.id;
  }
}

async function end({ sessions }: ApiParts, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  checkSessionWrite(request);
  const value = readCookie(request);
  if (value !== undefined) await sessions.end(value);
  writeCookie(reply, "", 0);
}

const OPEN = { security: [] } as const;

const GET = {
  ...routeSchema({
    operationId: "getSession",
    summary: "Who is signed in by the cookie of the request, if anybody is.",
    tag,
    answers: { 200: { $ref: "Session#" } },
  }),
  ...OPEN,
};

const CREATE = {
  ...routeSchema({
    operationId: "createSession",
    summary: "Signs a browser in for twelve hours: the answer sets a cookie that no script can read.",
    tag,
    body: { $ref: "SessionInput#" },
    answers: { 201: { $ref: "Session#" } },
  }),
  ...OPEN,
};

const REMOVE = {
  ...routeSchema({
    operationId: "endSession",
    summary: "Signs the browser out.",
    tag,
    answers: { 204: NOTHING },
  }),
  ...OPEN,
};
