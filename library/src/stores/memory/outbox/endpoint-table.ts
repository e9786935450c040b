import type { Clock } from "../../../clock.js";
import type { Endpoint, EndpointChange } from "../../../outbox/endpoint.js";
import { FanOut } from "../../../outbox/fan-out.js";
import type { Addressed, Place } from "../../../outbox/fan-out.js";

/** The endpoints, and since when those that are stopped are. */
export class EndpointTable {
  readonly #clock: Clock;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #stoppedAt = new Map<string, number>();
  #fanOut: FanOut | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(id: string): Endpoint | undefined {
    return this.#endpoints.get(id);
  }

  isActive(id: string): boolean {
    return this.#endpoints.get(id)?.state === "active";
  }

  /** By the monotonic clock; undefined where it is active. */
  stoppedAt(id: string): number | undefined {
    return this.#stoppedAt.get(id);
  }

  /** In the order of their ids. */
  sorted(): readonly Endpoint[] {
    return [...this.#endpoints.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  placesOf(event: Addressed): readonly Place[] {
    this.#fanOut ??= new FanOut(this.sorted());
    return this.#fanOut.placesOf(event);
  }

  put(endpoint: Endpoint): void {
    this.#endpoints.set(endpoint.id, structuredClone(endpoint));
    this.#fanOut = undefined;
    if (endpoint.state === "active") this.#stoppedAt.delete(endpoint.id);
    else if (!this.#stoppedAt.has(endpoint.id)) this.#stoppedAt.set(endpoint.id, this.#clock.monotonic());
  }

  /** Returns the changed endpoint; undefined where there is none. */
  change(id: string, change: EndpointChange): Endpoint | undefined {
    const before = this.#endpoints.get(id);
    if (before === undefined) return undefined;
    this.put({ ...before, ...change, id, tenant: before.tenant, version: before.version + 1 });
    return this.#endpoints.get(id);
  }

  /** Disables an endpoint whatever its state is; one that is disabled keeps its first reason. */
  disable(id: string, because: string): void {
    if (this.#endpoints.get(id)?.state !== "disabled") this.change(id, { state: "disabled", because });
  }

  remove(id: string): boolean {
    this.#fanOut = undefined;
    this.#stoppedAt.delete(id);
    return this.#endpoints.delete(id);
  }
}
