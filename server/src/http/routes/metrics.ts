import type { FastifyInstance } from "fastify";
import type { ServerParts } from "../../parts.js";
import { isLoopback } from "../auth/host-check.js";
import { metricsHook } from "../auth/token-check.js";
import type { TokenCheck } from "../auth/token-check.js";

/** /metrics for Prometheus: without a token on loopback, with one elsewhere. */
export function registerMetrics(
  app: FastifyInstance,
  { settings, metrics }: ServerParts,
  tokens: TokenCheck,
): void {
  // Behind a local proxy, every request comes from loopback.
  const open = isLoopback(settings.listen.host) && !settings.behindProxy;
  app.get(
    "/metrics",
    { schema: { hide: true }, ...(!open && { onRequest: metricsHook(tokens) }) },
    async (_request, reply) => {
      const { contentType, body } = await metrics.text();
      return reply.type(contentType).send(body);
    },
  );
}
