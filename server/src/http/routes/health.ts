import type { FastifyInstance } from "fastify";
import type { ServerParts } from "../../parts.js";
import { ReadinessProbe } from "../../observe/readiness.js";
import { problem } from "../problem.js";

const METHODS = ["GET", "HEAD"];
const RETRY_S = 2;

/** /healthz, for what restarts the process, and /readyz, for what sends traffic to it. */
export function registerHealth(app: FastifyInstance, parts: ServerParts): void {
  const probe = new ReadinessProbe(parts);
  // Does not ask the store: restarting the process would not bring the database back.
  app.route({ method: METHODS, url: "/healthz", schema: { hide: true }, handler: () => ({ status: "ok" }) });
  app.route({
    method: METHODS,
    url: "/readyz",
    schema: { hide: true },
    handler: async () => {
      const answer = await probe.ask();
      if (answer.ready) return { status: "ready" };
      throw problem("not_ready", answer.why, { retryAfterS: RETRY_S });
    },
  });
}
