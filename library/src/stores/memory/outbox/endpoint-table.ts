import type { Clock } from "../../../clock.js";
import type { Endpoint, EndpointChange } from "../../../outbox/endpoint.js";
import { pausedBy, registered, stateAt } from "../../../lanes/handler-consumer.js";
import type {
  HandlerConsumer,
  HandlerPause,
  RegisteredHandler,
  Standing,
} from "../../../lanes/handler-consumer.js";
import { FanOut } from "../../../outbox/fan-out.js";
import type { Addressed, Consumer, Place } from "../../../outbox/fan-out.js";

/** The endpoints, and since when those that are stopped are; and the handlers. */
export class EndpointTable {
  readonly #clock: Clock;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #handlers = new Map<string, RegisteredHandler>();
  readonly #stoppedAt = new Map<string, number>();
  /** Of handlers that are not active, by the monotonic clock: a wall clock that is set must end no pause. */
  readonly #standings = new Map<string, Standing>();
  readonly #seenAt = new Map<string, number>();
  #fanOut: FanOut | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(id: string): Endpoint | undefined {
    return this.#endpoints.get(id);
  }

  /** The endpoint or the handler of an id. */
  consumer(id: string): Consumer | undefined {
    const handler = this.#handlers.get(id);
    return this.#endpoints.get(id) ?? (handler && this.#standing(handler));
  }

  /** The handler as it stands now. */
  #standing(handler: RegisteredHandler): RegisteredHandler {
    const standing = this.#standings.get(handler.id);
    if (standing === undefined) return handler;
    const { untilMs, because, by } = standing;
    const now = this.#clock.monotonic();
    const state = stateAt(standing, now);
    if (state === "active") return handler;
    const pausedUntil = untilMs === undefined ? undefined : new Date(this.#clock.now() + untilMs - now);
    return { ...handler, state, because, pausedUntil, pausedBy: by };
  }

  /** When a handler's pause ends by itself, by the monotonic clock. */
  pausedUntilMs(id: string): number | undefined {
    return this.#standings.get(id)?.untilMs;
  }

  pause(id: string, pause: HandlerPause): boolean {
    const handler = this.#handlers.get(id);
    if (handler === undefined) return false;
    const now = this.#clock.monotonic();
    const before = this.#standings.get(id) ?? { state: "active", untilMs: undefined };
    const paused = pausedBy(before, pause, now);
    if (paused === undefined) return true;
    if (stateAt(before, now) === "active") this.#stoppedAt.set(id, now);
    this.#standings.set(id, paused);
    this.#handlers.set(id, { ...handler, version: handler.version + 1 });
    return true;
  }

  resume(id: string): boolean {
    const handler = this.#handlers.get(id);
    if (handler === undefined || this.isActive(id)) return false;
    this.#standings.delete(id);
    this.#stoppedAt.delete(id);
    this.#handlers.set(id, { ...handler, version: handler.version + 1 });
    return true;
  }

  isActive(id: string): boolean {
    return this.consumer(id)?.state === "active";
  }

  /** By the monotonic clock; undefined where it is active. */
  stoppedAt(id: string): number | undefined {
    return this.isActive(id) ? undefined : this.#stoppedAt.get(id);
  }

  /** In the order of their ids. */
  sorted(): readonly Endpoint[] {
    return [...this.#endpoints.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** In the order of their ids. */
  handlers(): readonly RegisteredHandler[] {
    const standing = [...this.#handlers.values()].map((each) => this.#standing(each));
    return standing.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Endpoints and handlers, in the order of their ids. */
  consumers(): readonly Consumer[] {
    return [...this.sorted(), ...this.handlers()];
  }

  placesOf(event: Addressed): readonly Place[] {
    return this.#known().placesOf(event);
  }

  isUnclaimed(event: Addressed): boolean {
    return this.#known().isUnclaimed(event);
  }

  /** When a worker last said that it has this handler. */
  seenAt(id: string): number | undefined {
    return this.#seenAt.get(id);
  }

  register(wanted: HandlerConsumer): void {
    const { id } = wanted;
    this.#seenAt.set(id, this.#clock.now());
    const handler = registered(this.#handlers.get(id), wanted, this.#clock.now());
    if (handler !== undefined) this.#handlers.set(id, structuredClone(handler));
    this.#fanOut = undefined;
  }

  removeHandler(id: string): void {
    for (const of of [this.#handlers, this.#standings, this.#stoppedAt, this.#seenAt]) of.delete(id);
    this.#fanOut = undefined;
  }

  #known(): FanOut {
    return (this.#fanOut ??= new FanOut(this.consumers()));
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
