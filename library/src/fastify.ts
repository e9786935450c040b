/**
 * `posthorn/fastify`: webhooks as a plug-in of Fastify 5.
 *
 * @module
 */
export { webhooks } from "./frameworks/fastify.js";
export type { FastifyInstance, FastifyPlugin, FastifyReply, FastifyRequest } from "./frameworks/fastify.js";
