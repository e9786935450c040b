/**
 * `posthorn/testing`: for tests of applications that use Posthorn, and for stores that others write.
 *
 * @module
 */
export type { DedupAdapter, DedupVerdict } from "./inbox/dedup.js";
export type { BenchTime, Case, Topic } from "./testing/conformance/case.js";
export { dedupConformance } from "./testing/conformance/dedup-conformance.js";
export type { DedupBench, DedupHarness, HostTransaction } from "./testing/conformance/dedup-harness.js";
export { inboxConformance } from "./testing/conformance/inbox-conformance.js";
export type { InboxBench, InboxHarness, RefusedRecord } from "./testing/conformance/inbox-harness.js";
export { createFakeClock } from "./testing/fake-clock.js";
export type { FakeClock } from "./testing/fake-clock.js";
export { TEST_SECRETS, TEST_WEBHOOK_ID } from "./testing/signed-request/fixture-keys.js";
export type { TestSecret } from "./testing/signed-request/fixture-keys.js";
export type { ProviderName } from "./testing/signed-request/provider-name.js";
export type { EventWish } from "./testing/signed-request/sender.js";
export { signedRequest } from "./testing/signed-request/signed-request.js";
export type { SignedRequestOptions, TestRequest } from "./testing/signed-request/signed-request.js";
