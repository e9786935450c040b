import { sha256, sha256Sync } from "#crypto";
import { systemClock } from "../clock.js";
import type { Clock } from "../clock.js";
import { checkStore } from "../given-store.js";
import { unknownOption } from "../known-options.js";
import type { OptionNames } from "../known-options.js";
import { PosthornError } from "../posthorn-error.js";
import type { Publication } from "../publication.js";
import type { TransactionMode } from "../store-capabilities.js";
import { joinParties } from "../witness.js";
import type { UrlGuard } from "./endpoint-options.js";
import { Endpoints } from "./endpoints.js";
import type { OutboxErrorCode } from "./outbox-errors.js";
import type { MaybePromise, OutboxStore, Written } from "./outbox-store.js";
import type { OutgoingEvent } from "./outgoing-event.js";
import { prepareEvent } from "./prepare-event.js";
import type { PreparedEvent } from "./prepare-event.js";

/** What a sender is made of. */
export interface SenderOptions<Tx, Mode extends TransactionMode> {
  readonly store: OutboxStore<Tx, Mode>;
  /** The largest body that is published. @default 1 MiB */
  readonly maxBodyBytes?: number;
  /**
   * The dispatcher's guard: what it accepts can be an endpoint, and nothing else. @default public names of https
   *
   * @example
   * const guard = createAddressGuard({ allowHttp: true, allowAddresses: ["127.0.0.1"] }); // of posthorn/dispatch
   */
  readonly guard?: UrlGuard;
  readonly clock?: Clock;
}

/** What became of a publication. */
export interface Published {
  readonly id: string;
  /** True when this id was published before: it is not sent again. */
  readonly duplicate: boolean;
}

/** Publishes events; the dispatcher delivers them. */
export interface Sender<Tx, Mode extends TransactionMode = TransactionMode> {
  /** Where events go. */
  readonly endpoints: Endpoints;
  /** Writes into a transaction of the host: the event is there when that commits, and never was when it rolls back. */
  publish(event: Publication, options: { readonly tx: Tx }): MaybePromise<Mode, Published>;
  publish(
    events: readonly Publication[],
    options: { readonly tx: Tx },
  ): MaybePromise<Mode, readonly Published[]>;
  /** Writes in a transaction of its own, shared with calls of the same moment; resolves when the event is durable. */
  publish(event: Publication): Promise<Published>;
  publish(events: readonly Publication[]): Promise<readonly Published[]>;
  /** Never there. It tells the compiler whose transactions these are: another store's receiver does not take this sender. */
  readonly "~transaction"?: (tx: Tx) => void;
  /** Says that a transaction with events in it has committed, so that the dispatcher need not find out by asking. */
  wake(): void;
}

/**
 * Makes a sender. It is a `publisher` of `createReceiver` as well: what a handler publishes commits with its effects.
 *
 * @example
 * const sender = createSender({ store: postgresStore({ client: pool }) });
 * await sender.endpoints.put({ id: "ep_erp", url: "https://example.com/hooks", secrets: process.env.ERP_SECRET ?? "" });
 * await sender.publish({ type: "order.paid", key: "order_7", data: { amount: 1999 } }, { tx });
 */
export function createSender<Tx, Mode extends TransactionMode>(
  options: SenderOptions<Tx, Mode>,
): Sender<Tx, Mode> {
  return new OutboxSender(options) as unknown as Sender<Tx, Mode>;
}

const OPTIONS: OptionNames<SenderOptions<never, never>> = {
  store: true,
  maxBodyBytes: true,
  guard: true,
  clock: true,
};

type Given = Publication | readonly Publication[];

class OutboxSender<Tx, Mode extends TransactionMode> {
  readonly endpoints: Endpoints;
  readonly #store: OutboxStore<Tx, Mode>;
  readonly #clock: Clock;
  readonly #maxBodyBytes: number;

  constructor(options: SenderOptions<Tx, Mode>) {
    const { store, clock = systemClock, maxBodyBytes = 1_048_576, guard } = options;
    const unknown = unknownOption("the sender", options, OPTIONS);
    if (unknown !== undefined) throw new PosthornError<OutboxErrorCode>("outbox_option_invalid", unknown);
    if (!(Number.isInteger(maxBodyBytes) && maxBodyBytes > 0)) {
      throw new PosthornError<OutboxErrorCode>(
        "outbox_option_invalid",
        `maxBodyBytes is ${String(maxBodyBytes)}; expected a positive whole number.`,
      );
    }
    checkStore("sender", store, "append");
    joinParties(this, { kind: "sender", store, clock });
    this.endpoints = new Endpoints(store, clock, { guard });
    this.#store = store;
    this.#clock = clock;
    this.#maxBodyBytes = maxBodyBytes;
  }

  publish(given: Given, options?: { readonly tx: Tx }): unknown {
    if (options !== undefined && !("tx" in options && options.tx !== undefined)) throw withoutTx();
    if (this.#store.transactions === "synchronous" && options !== undefined) {
      const events = this.#prepare(given).map((event) => withHash(event, sha256Sync));
      const written = this.#store.write(events, options.tx) as readonly Written[];
      this.#store.wake.ring("written");
      return answerTo(given, events, written);
    }
    return this.#publishLater(given, options?.tx);
  }

  wake(): void {
    this.#store.wake.ring("committed");
  }

  async #publishLater(given: Given, tx: Tx | undefined): Promise<unknown> {
    const prepared = this.#prepare(given);
    const toHash = prepared.some(({ content }) => content !== undefined);
    const events = toHash ? await Promise.all(prepared.map(hashed)) : prepared.map(({ event }) => event);
    if (tx === undefined) return answerTo(given, events, await this.#store.append(events));
    const written = await this.#store.write(events, tx);
    this.#store.wake.ring("written");
    return answerTo(given, events, written);
  }

  #prepare(given: Given): readonly PreparedEvent[] {
    const nowMs = this.#clock.now();
    const limits = { maxBodyBytes: this.#maxBodyBytes };
    return listOf(given).map((each) => prepareEvent(each, nowMs, limits));
  }
}

function listOf(given: Given): readonly Publication[] {
  return Array.isArray(given) ? (given as readonly Publication[]) : [given as Publication];
}

function withHash(
  { event, content }: PreparedEvent,
  hash: (content: Uint8Array) => Uint8Array,
): OutgoingEvent {
  return content === undefined ? event : { ...event, contentHash: hash(content) };
}

async function hashed({ event, content }: PreparedEvent): Promise<OutgoingEvent> {
  return content === undefined ? event : { ...event, contentHash: await sha256(content) };
}

function answerTo(given: Given, events: readonly OutgoingEvent[], written: readonly Written[]): unknown {
  const conflicts = events.filter((_, index) => written[index] === "conflict").map(({ id }) => id);
  if (conflicts.length > 0) throw conflict(conflicts);
  const published = events.map(({ id }, index) => ({ id, duplicate: written[index] === "duplicate" }));
  return Array.isArray(given) ? published : published[0];
}

function conflict(ids: readonly string[]): PosthornError<OutboxErrorCode> {
  return new PosthornError(
    "id_conflict",
    `${ids.length === 1 ? "An event" : `${ids.length} events`} with the id ${ids[0] ?? ""} was published before with another type or body. ` +
      "Nothing was written. An id names one event for ever: give a new one, or publish exactly the same type and body.",
    { detail: { ids: ids.slice(0, 10) } },
  );
}

function withoutTx(): PosthornError<OutboxErrorCode> {
  return new PosthornError(
    "outbox_option_invalid",
    "publish was given options without a `tx`: it would have committed by itself. Pass the transaction, or leave the options away.",
  );
}
