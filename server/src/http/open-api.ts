import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { RESOURCES } from "./resources/all.js";

/** Collects what the routes say of themselves. Has to come before them. */
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
    // By the names that they have here, not by numbers.
    refResolver: {
      buildLocalReference: ({ $id }, _base, _fragment, n) => (typeof $id === "string" ? $id : `schema-${n}`),
    },
  });
  for (const schema of RESOURCES) app.addSchema(schema);
}

/** /openapi.json: open to everybody, as it holds nothing of this server. */
export function registerOpenApiRoute(api: FastifyInstance): void {
  let written: string | undefined;
  api.get("/openapi.json", { schema: { hide: true } }, (_request, reply) => {
    written ??= JSON.stringify(api.swagger());
    return reply.type("application/json").send(written);
  });
}
