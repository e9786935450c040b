/**
 * `posthorn/express`: webhooks in Express 4 and 5.
 *
 * @module
 */
export { webhookErrors, webhooks } from "./frameworks/express.js";
export type { ExpressErrorHandler, ExpressHandler, ExpressNext } from "./frameworks/express.js";
