/**
 * `posthorn/client`: the admin API of a Posthorn server, typed. No dependency; runs in browsers too.
 *
 * @module
 */
export { isPosthornError, PosthornError } from "./posthorn-error.js";
export { createClient } from "./client/client.js";
export type {
  Client,
  DeliveryCalls,
  EndpointCalls,
  EventCalls,
  EventQuery,
  LaneCalls,
  PageOptions,
  PublishOptions,
  RejectedCalls,
  SessionCalls,
  SourceCalls,
  TenantOptions,
  TokenCalls,
} from "./client/client.js";
export type { ClientErrorCode } from "./client/client-errors.js";
export type { ClientOptions, Fetch } from "./client/client-options.js";
export { everyItem } from "./client/every-item.js";
export { problemOf } from "./client/problem.js";
export type {
  Attempt,
  CreatedEndpoint,
  CreatedToken,
  DeadLetter,
  DedupRule,
  Delivery,
  Endpoint,
  EndpointInput,
  EndpointUpdate,
  EventDetail,
  EventInput,
  EventSummary,
  Lane,
  Page,
  Place,
  Problem,
  PublishedEvent,
  Redriven,
  RejectedRequest,
  Session,
  SessionInput,
  SkipInput,
  Skipped,
  Source,
  SourceInput,
  SourceUpdate,
  TestInput,
  TestSend,
  Token,
  TokenInput,
} from "./client/resources.js";
