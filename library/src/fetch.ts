/**
 * `posthorn/fetch`: webhooks given as `Request`, answered with `Response`.
 *
 * @module
 */
export { fetchHandler } from "./frameworks/fetch.js";
export type { FetchHandler } from "./frameworks/fetch.js";
