import { isHandler } from "../../../outbox/fan-out.js";
import type { Consumer } from "../../../outbox/fan-out.js";
import type { EndpointSecrets } from "../../../outbox/endpoint-secrets.js";
import { notify } from "../../../observer.js";
import type { Observer, Signal } from "../../../observer.js";
import type { SqliteClient } from "../client/client.js";
import { stateAt } from "../../../lanes/handler-consumer.js";
import { readMarks } from "./consumer-book.js";
import type { ConsumerBook, ConsumerSet, Marks } from "./consumer-book.js";

/** What a verb of the outbox works with, from the begin to the commit of one transaction. */
export class OutboxTurn {
  readonly client: SqliteClient;
  /** One time for everything in the turn, so that what it makes due is due to it. */
  readonly nowMs: number;
  /** Whether events may wait for their places; false once this turn has found that none does. */
  mayWait = true;
  readonly #book: ConsumerBook;
  readonly #observer: Observer | undefined;
  #marks: Marks | undefined;
  #consumers: ConsumerSet | undefined;

  constructor(parts: {
    readonly client: SqliteClient;
    readonly nowMs: number;
    readonly book: ConsumerBook;
    readonly observer: Observer | undefined;
  }) {
    this.client = parts.client;
    this.nowMs = parts.nowMs;
    this.#book = parts.book;
    this.#observer = parts.observer;
  }

  /** The latest time by which anything was written when the turn began. */
  get seenAt(): number {
    return this.#readMarks().seenAt;
  }

  get secrets(): EndpointSecrets {
    return this.#book.secrets;
  }

  get consumers(): ConsumerSet {
    return (this.#consumers ??= this.#book.read(this.client, this.#readMarks()));
  }

  /** The consumer of a number, where it is active. */
  activeConsumer(number: bigint): Consumer | undefined {
    return this.stateOf(number) === "active" ? this.consumers.byNumber.get(number) : undefined;
  }

  /** Its state now; undefined where there is no such consumer. */
  stateOf(number: bigint): Consumer["state"] | undefined {
    const consumer = this.consumers.byNumber.get(number);
    return consumer && stateAt({ state: consumer.state, untilMs: pausedUntilMs(consumer) }, this.nowMs);
  }

  /** Call it after a change of a consumer: the rest of the turn must see the change. */
  forgetConsumers(): void {
    this.#marks = undefined;
    this.#consumers = undefined;
  }

  // Once for both that are in it.
  #readMarks(): Marks {
    return (this.#marks ??= readMarks(this.client));
  }

  notify(signal: Signal): void {
    notify(this.#observer, signal);
  }
}

/** When a pause ends by itself. */
export function pausedUntilMs(consumer: Consumer): number | undefined {
  return isHandler(consumer) ? consumer.pausedUntil?.getTime() : undefined;
}
