/**
 * `posthorn/dispatch`: delivers what was published. Needs the package `undici`.
 *
 * @module
 */
export { createDispatcher } from "./delivery/dispatcher.js";
export type { Dispatcher } from "./delivery/dispatcher.js";
export type { DispatcherOptions } from "./delivery/dispatcher-options.js";
export type { DrainLimits, DrainReport } from "./delivery/dispatching.js";
export type { Egress, EgressAnswer, OutgoingRequest } from "./delivery/egress.js";
export { createEgress } from "./delivery/transport.js";
export type { EgressOptions } from "./delivery/transport.js";
export { createAddressGuard } from "./delivery/address-guard.js";
export type { AddressGuard, AddressGuardOptions, AllowedUrl, Forbidden } from "./delivery/address-guard.js";
export type { ForbiddenReason, Outcome } from "./delivery/outcome.js";
