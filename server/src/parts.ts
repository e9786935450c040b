import type { Clock, IngestStore, Sender } from "posthorn";
import type { Egress } from "posthorn/dispatch";
import type { LookupStore, Operator, Outbox } from "posthorn/operator";
import type { Settings } from "./config/settings.js";
import type { Logger } from "./observe/log.js";
import type { Metrics } from "./observe/metrics.js";
import type { Registry } from "./store/registry.js";

/** The library's outbox with everything that a gateway asks of it. */
export type ServerOutbox = Outbox<unknown> & IngestStore & LookupStore;

/** Everything that routes and commands are handed. */
export interface ServerParts {
  readonly settings: Settings;
  readonly outbox: ServerOutbox;
  readonly sender: Sender<unknown>;
  readonly operator: Operator;
  /** The one guarded way out, for test sends too. */
  readonly egress: Egress;
  readonly registry: Registry;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Clock;
  /** Unique per boot. */
  readonly node: string;
}
