/**
 * `posthorn/repair`: reads from a provider's own log what it sent while nobody was there to receive it.
 *
 * @module
 */
export { createRepair } from "./repair/repair.js";
export type { Repair, RepairOptions } from "./repair/repair.js";
export type { RepairReport } from "./repair/log-run.js";
export { githubLog } from "./repair/github-log.js";
export type { GithubHook, GithubLogOptions } from "./repair/github-log.js";
export { stripeLog } from "./repair/stripe-log.js";
export type { StripeLogOptions } from "./repair/stripe-log.js";
export type { ApiOptions, ApiToken } from "./repair/provider-api.js";
export type { DeliveryLog, LogEntry, LoggedRequest, LogPage, LogRequest } from "./repair/delivery-log.js";
export type { CursorStore } from "./repair/cursor-store.js";
