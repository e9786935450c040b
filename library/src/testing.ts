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
