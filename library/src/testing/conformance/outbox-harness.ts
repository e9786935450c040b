import type { Outbox } from "../../operator/outbox.js";
import type { StoreCapabilities, TransactionMode } from "../../store-capabilities.js";
import type { BenchTime } from "./case.js";

/** A fresh, empty outbox for one case. */
export interface OutboxBench<Tx = unknown> {
  /** At least two on the same outbox, each as if in a process of its own; the same one twice where there can be only one. */
  readonly outboxes: readonly Outbox<Tx>[];
  readonly time: BenchTime;
  /**
   * Runs `work` in a transaction of the host and commits it; rolls back when it throws, and throws that on. `work`
   * returns without a promise where the store's transactions are synchronous.
   */
  transaction<T>(work: (tx: Tx) => Promise<T> | T): Promise<T>;
  close(): Promise<void>;
}

/** Tells the kit how to make and use the outbox under test. */
export interface OutboxHarness<Tx> {
  /** What the store claims: each claim is a set of cases, and must be what the store itself says. */
  readonly capabilities: StoreCapabilities;
  readonly transactions: TransactionMode;
  /** Whether the bench's time is exact to the millisecond. */
  readonly exactTime: boolean;
  open(): Promise<OutboxBench<Tx>>;
}
