import type { Clock, Observer, SecretSeal, Sender } from "posthorn";
import type { Egress } from "posthorn/dispatch";
import type { Consumers, Operator, Replays, Store } from "posthorn/operator";
import type { Loaded } from "./config/load.js";
import type { Settings } from "./config/settings.js";
import type { Activity } from "./observe/activity.js";
import type { Logger } from "./observe/log.js";
import type { Metrics } from "./observe/metrics.js";
import type { Registry } from "./store/registry.js";

/** The library's store. */
export type ServerOutbox = Store<unknown>;

/** `older`: `migrate` has something to do. `newer`: a newer version of Posthorn has been here. */
export type SchemaAge = "current" | "older" | "newer";

/** The database, open. */
export interface OpenStore {
  readonly kind: "sqlite" | "postgres";
  readonly outbox: ServerOutbox;
  readonly registry: Registry;
  /** Creates and changes the tables of library and server; returns the names of what was run. */
  migrate(): Promise<readonly string[]>;
  /** How the tables compare with those of this version. Changes nothing. */
  schemaAge(): Promise<SchemaAge>;
  /** What takes back the promise that an answered event survives a power loss; empty where nothing does. */
  lostPromises(): Promise<readonly string[]>;
  /** Ends the leases of a process that died here, and says how many; 0 where other nodes may be at work. */
  endLeases(): Promise<number>;
  /** The database's clock in milliseconds; undefined where it is this machine's. */
  now(): Promise<number | undefined>;
  close(): Promise<void>;
}

export interface OpenStoreOptions {
  readonly seal: SecretSeal;
  readonly observer?: Observer | undefined;
  /** Told of connections that broke while nobody used them. */
  readonly onIdleError?: ((error: Error) => void) | undefined;
  /** Beside a server that may run: the data directory is not held, and nothing is made. @default false */
  readonly beside?: boolean;
}

/** Everything that routes and commands are handed. */
export interface ServerParts {
  readonly settings: Settings;
  /** Where each setting is from; undefined where the server was not started by the command. */
  readonly origins?: Loaded["origins"] | undefined;
  readonly outbox: ServerOutbox;
  readonly sender: Sender<unknown>;
  readonly operator: Operator & Replays & Consumers;
  /** The one guarded way out, for test sends too. */
  readonly egress: Egress;
  readonly registry: Registry;
  readonly metrics: Metrics;
  /** What happens on this node, for counters and for those who watch. */
  readonly activity: Activity;
  readonly log: Logger;
  readonly clock: Clock;
  /** Unique per boot. */
  readonly node: string;
}
