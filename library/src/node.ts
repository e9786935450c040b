/**
 * `posthorn/node`: webhooks on `node:http`, Express and Connect.
 *
 * @module
 */
export { nodeListener } from "./frameworks/node.js";
export type { NodeListener } from "./frameworks/node.js";
