import type { NewestStore } from "../../library/src/inbox/handler/newest.js";
import type { KeeperStore } from "../../library/src/inbox/keeper.js";
import type { InboxStore } from "../../library/src/inbox/inbox-store.js";
import type { WorkerStore } from "../../library/src/inbox/worker/worker-store.js";
import type { HeldStore } from "../../library/src/operator/held-store.js";
import type { InboxViewStore } from "../../library/src/operator/inbox-view-store.js";
import type { LookupStore } from "../../library/src/operator/lookup-store.js";
import type { ReplayStore } from "../../library/src/operator/replay-store.js";
import type { IngestStore } from "../../library/src/outbox/ingest-store.js";
import type { SimulatedStore, StoreParts } from "../world/simulated-store.js";

/** What is simulated of a store whose handlers are consumers. */
export type WorkingStore<Tx> = WorkerStore<Tx, "asynchronous"> &
  NewestStore<Tx, "asynchronous"> &
  KeeperStore &
  ReplayStore &
  HeldStore &
  Pick<IngestStore, "ingest"> &
  Pick<InboxStore<Tx, "asynchronous">, "read"> &
  Pick<InboxViewStore, "inboxRows" | "inboxRowsOf" | "refusedEvents"> &
  Pick<LookupStore, "event" | "events" | "deliveriesOf">;

/** The database of a simulated run of workers, as its server has it: every call takes effect at once. */
export interface StoredStore<Tx = unknown> extends SimulatedStore<Tx> {
  readonly working: WorkingStore<Tx>;
  /** Called when the transaction commits, in the order of the calls. */
  onCommit(tx: Tx, effect: () => void): void;
}

export type OpenStoredStore = (parts: StoreParts) => StoredStore;
