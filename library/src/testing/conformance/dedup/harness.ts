import type { DedupAdapter } from "../../../inbox/dedup.js";
import type { StoreCapabilities } from "../../../store-capabilities.js";
import { isPosthornError } from "../../../posthorn-error.js";
import type { BenchTime, Facts, Pledge } from "../case.js";
import { needsOf } from "../case.js";
import { holds, shortly, soon } from "../expectation.js";

const LONG_S = 14 * 24 * 3600;

/** A transaction of the host, with an adapter that records inside it. */
export interface HostTransaction {
  readonly adapter: DedupAdapter;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** Fresh, empty memory for one case. */
export interface DedupBench {
  /** At least two on the same ids, each as if in a process of its own; the same one twice where there can be only one. */
  readonly adapters: readonly DedupAdapter[];
  readonly time: BenchTime;
  /** Begins a transaction, where the adapter claims to share the host's. */
  begin?(): Promise<HostTransaction>;
  /** How long one call may take before it counts as waiting for another. @default 10,000 */
  readonly patienceMs?: number;
  /** Ends also the transactions that a failed case left open. */
  close(): Promise<void>;
}

/** Tells the kit how to make and use the adapter under test. */
export interface DedupHarness {
  /** What the adapter claims: each claim is a set of cases. */
  readonly capabilities: StoreCapabilities;
  /** Whether the bench's time is exact to the millisecond, so that the very edge of a ttl can be tried. */
  readonly exactTime: boolean;
  /** Whether an open transaction holds up every other writer, as on SQLite. */
  readonly oneWriter?: boolean;
  open(): Promise<DedupBench>;
}

export type DedupPledge = Pledge<DedupBench>;

export function dedupFacts({ capabilities, exactTime, oneWriter = false }: DedupHarness): Facts {
  const none = { awaitingHandlers: false, refusedListing: false };
  return { ...none, ...needsOf(capabilities), exactTime, manyWriters: !oneWriter };
}

/** What a caller learned: whether it is first, or that it cannot be known yet. */
export type Learned = "first" | "duplicate" | "busy";

/** How and where an id is recorded. */
export interface Recording {
  /** @default 14 days */
  readonly ttlS?: number;
  /** Which of the bench's adapters. @default 0 */
  readonly at?: number;
  /** Or inside a transaction. */
  readonly inside?: HostTransaction;
}

/** Records an id, and fails when that takes too long; `busy` where the adapter says that it cannot know yet. */
export function learn(bench: DedupBench, id: string, recording: Recording = {}): Promise<Learned> {
  const { ttlS = LONG_S, at = 0, inside } = recording;
  const adapter = inside?.adapter ?? adapterOf(bench, at);
  return soon(learnAtLast(adapter, id, ttlS), `record(${shortly(id)})`, bench.patienceMs);
}

async function learnAtLast(adapter: DedupAdapter, id: string, ttlS: number): Promise<Learned> {
  try {
    const { duplicate } = await adapter.record(id, ttlS);
    return duplicate ? "duplicate" : "first";
  } catch (error) {
    // Anything else is no verdict at all, and would be lost in a count of firsts.
    if (isPosthornError(error) && error.code === "dedup_busy") return "busy";
    throw error;
  }
}

/** Records one id many times at once, in turn on every adapter, and says what each caller learned. */
export function race(bench: DedupBench, id: string, callers: number): Promise<Learned[]> {
  const ttlS = bench.time.tickS;
  return Promise.all(Array.from({ length: callers }, (_, at) => learn(bench, id, { ttlS, at })));
}

function adapterOf({ adapters }: DedupBench, index: number): DedupAdapter {
  const adapter = adapters[index % adapters.length];
  holds(adapter !== undefined, "The harness gave no adapter");
  return adapter;
}

export function count(learned: readonly Learned[], what: Learned): number {
  return learned.filter((each) => each === what).length;
}

export function beginOn(bench: DedupBench): Promise<HostTransaction> {
  holds(bench.begin !== undefined, "The harness claims sharesHostTransaction, but has no begin()");
  return bench.begin();
}
