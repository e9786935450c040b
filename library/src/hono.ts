/**
 * `posthorn/hono`: webhooks in Hono 4, on every runtime.
 *
 * @module
 */
export { webhooks } from "./frameworks/hono.js";
export type { HonoContext, HonoHandler } from "./frameworks/hono.js";
