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
  SetAsideCalls,
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
  RedrivenEvent,
  RejectedRequest,
  Session,
  SessionInput,
  SetAside,
  SkipInput,
  RetakenRequest,
  Retried,
  Skipped,
  Source,
  SourceInput,
  SourceUpdate,
  TestInput,
  TestSend,
  Token,
  TokenInput,
} from "./client/resources.js";
export type {
  End,
  EndpointCounts,
  EndpointStanding,
  Found,
  LaneWaiting,
  Need,
  NodeStanding,
  Quantiles,
  Repeat,
  Series,
  SettingInForce,
  SettingsInForce,
  SeriesQuery,
  SourceCounts,
  SourceStanding,
  Status,
  StatusCounts,
  Step,
  Story,
  StoryDelivery,
  TailGap,
  TailKind,
  TailMessage,
  TailQuery,
  WaitingDelivery,
} from "./client/view-resources.js";
export type { ConsumerCalls, InboxCalls } from "./client/inbox-calls.js";
export type {
  Consumer,
  InboxEvent,
  InboxFailure,
  InboxOutcome,
  InboxQuery,
  InboxRow,
  RefusedEvent,
} from "./client/inbox-resources.js";
export type { AuditCalls, DeadCalls, OperationCalls } from "./client/operation-calls.js";
export type {
  AuditEntry,
  AuditQuery,
  DeadGroup,
  DeadNote,
  DeadQuery,
  Operation,
  OperationActor,
  OperationFilter,
  OperationInput,
  OperationItem,
  OperationNext,
  OperationPlan,
  OperationRun,
  OperationVerb,
  OperationWarning,
} from "./client/operation-resources.js";
