import type { Endpoint } from "../../outbox/endpoint.js";
import type { EndpointSecrets } from "./endpoint-secrets.js";
import { notify } from "../../observer.js";
import type { Observer, Signal } from "../../observer.js";
import type { SqliteClient } from "./client.js";
import type { EndpointBook, EndpointSet } from "./endpoint-book.js";

/** What a verb of the outbox works with, from the begin to the commit of one transaction. */
export class OutboxTurn {
  readonly client: SqliteClient;
  /** One time for everything in the turn, so that what it makes due is due to it. */
  readonly nowMs: number;
  readonly #book: EndpointBook;
  readonly #observer: Observer | undefined;
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

  get secrets(): EndpointSecrets {
    return this.#book.secrets;
  }

  get endpoints(): EndpointSet {
    return (this.#endpoints ??= this.#book.read(this.client));
  }

  /** The endpoint of a number, where it is active. */
  activeEndpoint(number: bigint): Endpoint | undefined {
    const endpoint = this.endpoints.byNumber.get(number);
    return endpoint?.state === "active" ? endpoint : undefined;
  }

  /** To be called after a change of an endpoint: the rest of the turn must see it. */
  forgetEndpoints(): void {
    this.#endpoints = undefined;
  }

  notify(signal: Signal): void {
    notify(this.#observer, signal);
  }
}
