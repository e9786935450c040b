/**
 * `posthorn/dispatch`: delivers what was published. Needs the package `undici`.
 *
 * @module
 */
export { createDispatcher } from "./delivery/dispatcher.js";
export type { DispatcherOptions } from "./delivery/dispatcher-options.js";
export type { Dispatcher, DrainLimits, DrainReport } from "./delivery/dispatcher.js";
export type {
  Egress,
  EgressAnswer,
  OutgoingRequest,
  ReadingAnswer,
  ReadingEgress,
  ReadingRequest,
} from "./delivery/egress/egress.js";
export { createEgress } from "./delivery/egress/create-egress.js";
export type { EgressOptions } from "./delivery/egress/create-egress.js";
export { createAddressGuard } from "./delivery/egress/address-guard.js";
export { queryResolver } from "./delivery/egress/resolver.js";
export type { Resolve } from "./delivery/egress/resolver.js";
export type {
  AddressGuard,
  AddressGuardOptions,
  AllowedUrl,
  Forbidden,
} from "./delivery/egress/address-guard.js";
export type { ForbiddenReason, Outcome } from "./delivery/outcome.js";
