/**
 * `posthorn/providers`: the signing schemes of well-known senders, one function each.
 *
 * @module
 */
export { STANDARD_WEBHOOKS } from "./signature/schemes/standard.js";
