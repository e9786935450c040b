import type { DeliveryStore, OutboxStore, Publication, Sender } from "posthorn";
import { createSender } from "posthorn";
import { createAddressGuard, createDispatcher } from "posthorn/dispatch";
import type { Dispatcher, DispatcherOptions } from "posthorn/dispatch";
import { BODY, TYPE } from "../inbox/signed-events.js";
import type { ReceivingServer } from "./receiving-server.js";
import { IN_FLIGHT, SECRET } from "./signed-posts.js";

const LOOPBACK = createAddressGuard({ allowHttp: true, allowAddresses: ["127.0.0.0/8"] });

/** An outbox with one endpoint, which is the receiving server. */
export interface BenchOutbox<Tx = never> {
  readonly store: DeliveryStore;
  readonly sender: Sender<Tx>;
  /** Forgets every event, and keeps the endpoint. */
  readonly empty: () => void | Promise<void>;
  /** Brings the database's idea of its tables up to date, as it would do by itself within a minute. */
  readonly settleDown: () => void | Promise<void>;
}

// More than any case has under way: the endpoint must not be what limits.
const MAX_IN_FLIGHT = 1000;

export async function openOutbox<Tx>(
  store: OutboxStore<Tx> & DeliveryStore,
  server: ReceivingServer,
  care: Pick<BenchOutbox, "empty" | "settleDown">,
): Promise<BenchOutbox<Tx>> {
  const sender = createSender({ store, guard: LOOPBACK });
  await sender.endpoints.create({ url: server.url, secrets: SECRET, maxInFlight: MAX_IN_FLIGHT });
  return { store, sender, ...care };
}

export function dispatcherOf(
  store: DeliveryStore,
  options: Omit<DispatcherOptions, "store"> = {},
): Dispatcher {
  return createDispatcher({
    store,
    slots: IN_FLIGHT,
    guard: LOOPBACK,
    ...options,
  });
}

/** Event 0, 1, 2 … of so many keys, in turn. */
export function publication(number: number, keys: number): Publication {
  return { type: TYPE, key: `key_${number % keys}`, body: BODY };
}

const EVENTS_PER_PUBLISH = 500;
const PUBLISHES_AT_ONCE = 4;

export interface Backlog {
  readonly events: number;
  readonly keys: number;
}

/** Publishes a backlog and gives all of it its places, so that a dispatcher finds nothing but work. */
export async function fillOutbox(
  { store, sender, settleDown }: BenchOutbox,
  { events, keys }: Backlog,
): Promise<void> {
  let next = 0;
  const publishOn = async (): Promise<void> => {
    while (next < events) {
      const first = next;
      next = Math.min(next + EVENTS_PER_PUBLISH, events);
      await sender.publish(
        Array.from({ length: next - first }, (_, index) => publication(first + index, keys)),
      );
    }
  };
  await Promise.all(Array.from({ length: PUBLISHES_AT_ONCE }, publishOn));
  await sequenceAll(store);
  await settleDown();
}

export async function sequenceAll(store: DeliveryStore): Promise<void> {
  while ((await store.sequence()).more);
}
