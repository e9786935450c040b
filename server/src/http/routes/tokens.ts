import type { FastifyInstance } from "fastify";
import type { CreatedToken, Page, Token, TokenInput } from "posthorn/client";
import type { ApiParts } from "../api-parts.js";
import { newToken } from "../auth/new-token.js";
import { checkedCursor, cutPage, PAGE_QUERY, pageSchema } from "../page.js";
import type { PageQuery } from "../page.js";
import { notFound, problem } from "../problem.js";
import { showToken } from "../resources/token.js";
import { NOTHING, param, query, routeSchema } from "../route-schema.js";

const tag = "tokens";
const TOKEN_ID = /^tok_\w{1,64}$/;

/** /tokens: who may use the API. */
export function registerTokens(api: FastifyInstance, parts: ApiParts): void {
  api.get<{ Querystring: PageQuery }>("/tokens", { schema: LIST }, ({ query: asked }) => list(parts, asked));
  api.post<{ Body: TokenInput }>("/tokens", { schema: CREATE }, async ({ body }, reply) =>
    reply.code(201).send(await create(parts, body)),
  );
  api.delete<{ Params: { id: string } }>("/tokens/:id", { schema: REMOVE }, async ({ params }, reply) => {
    await remove(parts, params.id);
    return reply.code(204).send();
  });
}

async function list({ registry }: ApiParts, { limit, after }: PageQuery): Promise<Page<Token>> {
  const found = await registry.listTokens({ after: checkedCursor(after, TOKEN_ID), limit: limit + 1 });
  return cutPage(found, limit, { show: showToken, nameOf: ({ id }) => id });
}

async function create({ registry, clock }: ApiParts, input: TokenInput): Promise<CreatedToken> {
  const expiresAt = input.expiresAt === undefined ? undefined : new Date(input.expiresAt);
  const createdAt = new Date(clock.now());
  if (expiresAt !== undefined && !(expiresAt > createdAt)) {
    throw problem("request_invalid", "`expiresAt` is not in the future.", { field: "expiresAt" });
  }
  const { token, record } = newToken({ name: input.name, scope: input.scope, expiresAt }, createdAt);
  await registry.addToken(record);
  return { ...showToken(record), token };
}

async function remove(parts: ApiParts, id: string): Promise<void> {
  switch (await parts.registry.removeToken(id, new Date(parts.clock.now()))) {
    case "unknown":
      throw notFound("token", id);
    case "last_full":
      throw problem(
        "conflict",
        "It is the last token with the scope full: without it, nobody could make another one. Make the other one first (`posthorn token create NAME`), and revoke this one with it.",
      );
    case "removed":
      parts.tokens.forget();
      parts.sessions.forget();
  }
}

const LIST = routeSchema({
  operationId: "listTokens",
  summary: "Tokens, in the order of their ids.",
  tag,
  querystring: query(PAGE_QUERY),
  answers: { 200: pageSchema("Token") },
});

const CREATE = routeSchema({
  operationId: "createToken",
  summary: "Makes a token, and shows it this once.",
  tag,
  body: { $ref: "TokenInput#" },
  answers: { 201: { $ref: "CreatedToken#" } },
});

const REMOVE = routeSchema({
  operationId: "removeToken",
  summary: "Takes a token back. Other nodes follow within three seconds.",
  tag,
  params: param("id"),
  answers: { 204: NOTHING },
});
