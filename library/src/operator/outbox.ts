import type { DeliveryStore } from "../delivery/delivery-store.js";
import type { IngestStore } from "../outbox/ingest-store.js";
import type { OutboxStore } from "../outbox/outbox-store.js";
import type { TransactionMode } from "../store-capabilities.js";
import type { LookupStore } from "./lookup-store.js";
import type { OperatorStore } from "./operator-store.js";

/** The whole outbox of one database: what the sender writes, the dispatcher delivers and the operator looks at. */
export type Outbox<Tx, Mode extends TransactionMode = TransactionMode> = OutboxStore<Tx, Mode> &
  DeliveryStore &
  OperatorStore;

/** An outbox behind a gateway: it also takes events in from elsewhere, and finds them again. */
export type GatewayOutbox<Tx, Mode extends TransactionMode = TransactionMode> = Outbox<Tx, Mode> &
  IngestStore &
  LookupStore;
