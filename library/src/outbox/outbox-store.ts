import type { StoreCapabilities, TransactionMode } from "../store-capabilities.js";
import type { Wake } from "../work/wake.js";
import type { Endpoint, EndpointChange } from "./endpoint.js";
import type { OutgoingEvent } from "./outgoing-event.js";

/** What became of an event that was to be written. */
export type Written =
  | "written"
  /** The tenant has published this id before, with the same type and body. */
  | "duplicate"
  /** The tenant has published this id before, with another type or body. */
  | "conflict";

/**
 * Where published events and endpoints live. Each sentence is a case of the conformance kit, in the same words.
 * `Tx` is the host client's own transaction type.
 */
export interface OutboxStore<Tx, Mode extends TransactionMode = TransactionMode> {
  readonly capabilities: StoreCapabilities;
  readonly transactions: Mode;
  /** Rung by `append`; the sender rings it for what it has written into a transaction of the host. */
  readonly wake: Wake;
  /**
   * Writes events into a transaction of the host, in their order: they are there when it commits, and never were when
   * it rolls back. Takes no lock that another event could wait for, unless an id was given. Where one of them is a
   * conflict, nothing is written. Returns without a promise where transactions are synchronous.
   */
  write(events: readonly OutgoingEvent[], tx: Tx): MaybePromise<Mode, readonly Written[]>;
  /**
   * Writes events in a transaction of the store's own; calls of the same moment share one, in the order of the calls.
   * A conflict is its own caller's alone. Resolves when they are durable.
   */
  append(events: readonly OutgoingEvent[]): Promise<readonly Written[]>;
  /** Adds an endpoint; it gets what is sequenced from now on. False where the id is taken. */
  addEndpoint(endpoint: Endpoint): Promise<boolean>;
  /** Changes an endpoint and returns it as it is now; undefined where there is none. What was published before is sequenced by the old patterns first. A change of the order is refused with `endpoint_busy` while anything waits for the endpoint. */
  changeEndpoint(id: string, change: EndpointChange): Promise<Endpoint | undefined>;
  /** Removes an endpoint; what waits for it is cancelled. False where there is none. */
  removeEndpoint(id: string): Promise<boolean>;
  readEndpoints(ids: readonly string[]): Promise<readonly Endpoint[]>;
  /** In the order of their ids, after the one that is named, also where that was removed; what is no endpoint's id is refused with `cursor_invalid`. */
  listEndpoints(page: {
    readonly tenant?: string | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly Endpoint[]>;
}

/** The value itself where transactions are synchronous, a promise of it where they are not. */
export type MaybePromise<Mode extends TransactionMode, T> = Mode extends "synchronous" ? T : Promise<T>;
