import type { Observer, SecretSeal } from "posthorn";
import type { ServerOutbox } from "../parts.js";
import type { Registry } from "./registry.js";

/** The database, open. */
export interface OpenStore {
  readonly kind: "sqlite" | "postgres";
  readonly outbox: ServerOutbox;
  readonly registry: Registry;
  /** Creates and changes the tables of library and server; returns the names of what was run. */
  migrate(): Promise<readonly string[]>;
  /** Whether `migrate` would find nothing to do. Changes nothing. */
  isCurrent(): Promise<boolean>;
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
