import type { Endpoint } from "../../../outbox/endpoint.js";
import type { EndpointSecrets } from "../../../outbox/endpoint-secrets.js";
import { notify } from "../../../observer.js";
import type { Observer, Signal } from "../../../observer.js";
import type { SqliteClient } from "../client/client.js";
import { readMarks } from "./endpoint-book.js";
import type { EndpointBook, EndpointSet, Marks } from "./endpoint-book.js";

/** What a verb of the outbox works with, from the begin to the commit of one transaction. */
export class OutboxTurn {
  readonly client: SqliteClient;
  /** One time for everything in the turn, so that what it makes due is due to it. */
  readonly nowMs: number;
  /** Whether events may wait for their places; false once this turn has found that none does. */
  mayWait = true;
  readonly #book: EndpointBook;
  readonly #observer: Observer | undefined;
  #marks: Marks | undefined;
  #endpoints: EndpointSet | undefined;

  constructor(parts: {
    readonly client: SqliteClient;
    readonly nowMs: number;
    readonly book: EndpointBook;
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

  get endpoints(): EndpointSet {
    return (this.#endpoints ??= this.#book.read(this.client, this.#readMarks()));
  }

  /** The endpoint of a number, where it is active. */
  activeEndpoint(number: bigint): Endpoint | undefined {
    const endpoint = this.endpoints.byNumber.get(number);
    return endpoint?.state === "active" ? endpoint : undefined;
  }

  /** Call it after a change of an endpoint: the rest of the turn must see the change. */
  forgetEndpoints(): void {
    this.#marks = undefined;
    this.#endpoints = undefined;
  }

  // Once for both that are in it.
  #readMarks(): Marks {
    return (this.#marks ??= readMarks(this.client));
  }

  notify(signal: Signal): void {
    notify(this.#observer, signal);
  }
}
