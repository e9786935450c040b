import type { DeliveryStore } from "../delivery/delivery-store.js";
import type { InboxStore } from "../inbox/inbox-store.js";
import type { NewestStore } from "../inbox/handler/newest.js";
import type { WorkerStore } from "../inbox/worker/worker-store.js";
import type { IngestStore } from "../outbox/ingest-store.js";
import type { OutboxStore } from "../outbox/outbox-store.js";
import type { TransactionMode } from "../store-capabilities.js";
import type { DeadStore } from "./dead-store.js";
import type { CursorStore } from "../repair/cursor-store.js";
import type { RetentionStore } from "../retention/retention-store.js";
import type { InboxViewStore } from "./inbox-view-store.js";
import type { HeldStore } from "./held-store.js";
import type { LookupStore } from "./lookup-store.js";
import type { ReplayStore } from "./replay-store.js";
import type { OperatorStore } from "./operator-store.js";
import type { SetAsideStore } from "./set-aside-store.js";
import type { ViewStore } from "./view-store.js";

/** One database, behind every port: receiver, sender, dispatcher, gateway and operator take the same store. */
export type Store<Tx, Mode extends TransactionMode = TransactionMode> = InboxStore<Tx, Mode> &
  OutboxStore<Tx, Mode> &
  DeliveryStore &
  NewestStore<Tx, Mode> &
  WorkerStore<Tx, Mode> &
  OperatorStore &
  DeadStore &
  IngestStore &
  LookupStore &
  CursorStore &
  RetentionStore &
  SetAsideStore &
  ViewStore &
  InboxViewStore &
  HeldStore &
  ReplayStore;
