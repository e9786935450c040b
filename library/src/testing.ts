/**
 * `posthorn/testing`: for tests of applications that use Posthorn, and for stores that others write.
 *
 * @module
 */
export type { DedupAdapter, DedupVerdict } from "./inbox/dedup.js";
export type { BenchTime, Case, Topic } from "./testing/conformance/case.js";
export { cursorConformance } from "./testing/conformance/cursor/conformance.js";
export type { CursorBench, CursorHarness } from "./testing/conformance/cursor/conformance.js";
export { dedupConformance } from "./testing/conformance/dedup/conformance.js";
export type { DedupBench, DedupHarness, HostTransaction } from "./testing/conformance/dedup/harness.js";
export { inboxConformance } from "./testing/conformance/inbox/conformance.js";
export type {
  HandlerStatement,
  InboxBench,
  InboxHarness,
  RefusedRecord,
} from "./testing/conformance/inbox/harness.js";
export { outboxConformance } from "./testing/conformance/outbox/conformance.js";
export type {
  CancelledRecord,
  NarrowOutboxBench,
  NarrowOutboxHarness,
  OutboxBench,
  OutboxHarness,
  OutboxUnderTest,
} from "./testing/conformance/outbox/harness.js";
export { createFakeClock } from "./testing/fake-clock.js";
export type { FakeClock } from "./testing/fake-clock.js";
export { createFaultProxy } from "./testing/fault-proxy.js";
export type { Direction, FaultProxy, FaultProxyOptions, ProxyFaults } from "./testing/fault-proxy.js";
export { checkHistory, createChecker } from "./testing/history/checker.js";
export type { CheckerOptions, HistoryChecker, HistoryReport, Violation } from "./testing/history/checker.js";
export { createHistory } from "./testing/history/history.js";
export type { Call, History, HistoryOptions, HistoryWriter } from "./testing/history/history.js";
export type { InvariantName } from "./testing/history/invariants.js";
export type { EventName, HistoryRecord, Operation, Operations, Phase } from "./testing/history/record.js";
export { printViolations } from "./testing/history/report.js";
export { settled } from "./testing/settled.js";
export type {
  SettledEvent,
  SettledOptions,
  SettledPart,
  SettledPublication,
  SettledReport,
} from "./testing/settled.js";
export { TEST_SECRETS, TEST_WEBHOOK_ID } from "./testing/signed-request/fixture-keys.js";
export type { TestSecret } from "./testing/signed-request/fixture-keys.js";
export type { ProviderName } from "./testing/signed-request/provider-name.js";
export type { EventWish } from "./testing/signed-request/sender.js";
export { signedRequest } from "./testing/signed-request/signed-request.js";
export type { SignedRequestOptions, TestRequest } from "./testing/signed-request/signed-request.js";
