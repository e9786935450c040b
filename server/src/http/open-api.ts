import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { ATTEMPT, DELIVERY } from "./resources/delivery.js";
import {
  CREATED_ENDPOINT,
  ENDPOINT,
  ENDPOINT_INPUT,
  ENDPOINT_UPDATE,
  TEST_SEND,
} from "./resources/endpoint.js";
import { EVENT_DETAIL, EVENT_INPUT, EVENT_SUMMARY, PUBLISHED_EVENT } from "./resources/event.js";
import { HELD_EVENT } from "./resources/held.js";
import { CONSUMER, INBOX_EVENT, INBOX_ROW, REFUSED_EVENT } from "./resources/inbox.js";
import { DEAD_LETTER, LANE } from "./resources/lane.js";
import { PROBLEM } from "./problem.js";
import {
  AUDIT_ENTRY,
  DEAD_GROUP,
  OPERATION,
  OPERATION_INPUT,
  OPERATION_ITEM,
  OPERATION_RUN,
} from "./resources/operation.js";
import { REJECTED_REQUEST } from "./resources/rejected-request.js";
import { SERIES } from "./resources/series.js";
import { SET_ASIDE } from "./routes/set-aside.js";
import { SESSION, SESSION_INPUT } from "./resources/session.js";
import { SOURCE, SOURCE_INPUT, SOURCE_UPDATE } from "./resources/source.js";
import { STATUS } from "./resources/status.js";
import { FOUND, LANE_WAITING, STORY } from "./resources/story.js";
import { CREATED_TOKEN, TOKEN, TOKEN_INPUT } from "./resources/token.js";

/** The schemas that routes refer to by name. */
const RESOURCES: readonly object[] = [
  SOURCE_INPUT,
  SOURCE_UPDATE,
  SOURCE,
  ENDPOINT_INPUT,
  ENDPOINT_UPDATE,
  ENDPOINT,
  CREATED_ENDPOINT,
  TEST_SEND,
  EVENT_INPUT,
  PUBLISHED_EVENT,
  DELIVERY,
  ATTEMPT,
  EVENT_SUMMARY,
  EVENT_DETAIL,
  LANE,
  DEAD_LETTER,
  DEAD_GROUP,
  SET_ASIDE,
  INBOX_ROW,
  REFUSED_EVENT,
  HELD_EVENT,
  INBOX_EVENT,
  CONSUMER,
  OPERATION_INPUT,
  OPERATION_RUN,
  OPERATION,
  OPERATION_ITEM,
  AUDIT_ENTRY,
  REJECTED_REQUEST,
  TOKEN_INPUT,
  TOKEN,
  CREATED_TOKEN,
  SESSION_INPUT,
  SESSION,
  SERIES,
  STATUS,
  STORY,
  LANE_WAITING,
  FOUND,
  PROBLEM,
];

/** Collects the descriptions of routes. Must be called before the routes are registered. */
export function registerOpenApi(app: FastifyInstance): void {
  app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Posthorn",
        description: "The admin API of a Posthorn server.",
        version: "1",
        license: { name: "MIT" },
      },
      components: { securitySchemes: { token: { type: "http", scheme: "bearer", description: "`phk_…`" } } },
    },
    // Schemas keep their names; the default would number them.
    refResolver: {
      buildLocalReference: ({ $id }, _base, _fragment, n) => (typeof $id === "string" ? $id : `schema-${n}`),
    },
  });
  for (const schema of RESOURCES) app.addSchema(schema);
}

/** /openapi.json needs no token: it is the same for every server. */
export function registerOpenApiRoute(api: FastifyInstance): void {
  let written: string | undefined;
  api.get("/openapi.json", { schema: { hide: true } }, (_request, reply) => {
    written ??= JSON.stringify(api.swagger());
    return reply.type("application/json").send(written);
  });
}
