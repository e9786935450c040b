import type { Clock } from "../../library/src/clock.js";
import type { InboxStore } from "../../library/src/inbox/inbox-store.js";
import type { DeliveryStore } from "../../library/src/delivery/delivery-store.js";
import type { OperatorStore } from "../../library/src/operator/operator-store.js";
import type { OutboxStore } from "../../library/src/outbox/outbox-store.js";
import type { CancelledRecord } from "../../library/src/testing/conformance/outbox/harness.js";

/** What is simulated of an outbox: it takes nothing in from elsewhere, and looks nothing up. */
export type SimulatedOutbox<Tx> = OutboxStore<Tx, "asynchronous"> & DeliveryStore & OperatorStore;

/**
 * One database of a simulated run, as its server has it: every call takes effect at once. What calls go through on
 * their way to it and back is the simulator's part.
 */
export interface SimulatedStore<Tx = unknown> {
  readonly inbox: InboxStore<Tx, "asynchronous">;
  readonly outbox: SimulatedOutbox<Tx>;
  /** A transaction of the host. */
  begin(): Tx;
  /** Throws when it cannot be; then nothing of it is there. */
  commit(tx: Tx): void;
  rollback(tx: Tx): void;
  /** Counts up a row of the host's own, when the transaction commits. */
  write(tx: Tx, row: string): void;
  /** The host's rows, and how often each was counted up. */
  written(): ReadonlyMap<string, number>;
  /** Every delivery that was cancelled. */
  cancelled(): readonly CancelledRecord[];
  /** Whether a delivery is dead, an operator has passed over it, and nobody has redriven it: dead letters list it no more. */
  isPassedOver(deliveryId: string): Promise<boolean>;
  /** How many committed events have no places yet, and would be given them by `sequence` now. */
  unplaced(): number;
  /** Remembers everything as it is now, and returns what brings it back, within the same turn. Left out where a store cannot lose power. */
  snapshot?(): () => void | Promise<void>;
}

/** What a store is made with. */
export interface StoreParts {
  /** The store's own. */
  readonly clock: Pick<Clock, "now" | "monotonic">;
  /** How many events are sequenced at once. */
  readonly batch: number;
}

export type OpenStore = (parts: StoreParts) => SimulatedStore;
