/**
 * `posthorn`: the whole library. Receivers at the edge that only verify import `posthorn/verify`.
 *
 * @module
 */
export { systemClock } from "./clock.js";
export { ERROR_CODES } from "./errors.js";
export type { ErrorCode } from "./errors.js";
export * from "./verify.js";
