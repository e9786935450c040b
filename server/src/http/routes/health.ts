import type { FastifyInstance } from "fastify";
import type { ServerParts } from "../../parts.js";
import { problem } from "../problem.js";
import { ReadinessProbe } from "../readiness.js";

const METHODS = ["GET", "HEAD"];
const RETRY_S = 2;

/** /healthz and /readyz: for whoever restarts this process, and for whoever sends traffic to it. */
export function registerHealth(app: FastifyInstance, parts: ServerParts): void {
  const probe = new ReadinessProbe(parts);
  // Without the store: to restart the process would not bring the database back.
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
