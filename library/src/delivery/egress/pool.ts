import type { Clock } from "../../clock.js";
import type { AllowedUrl } from "./address-guard.js";
import { Dial } from "./dial.js";
import type { ConnectCallback, ConnectOptions, DialParts, Route } from "./dial.js";
import type { EgressAnswer, OutgoingRequest, ReadingAnswer, ReadingRequest } from "./egress.js";
import type { ExchangeHost } from "./exchange.js";
import { Exchange } from "./exchange.js";

/** As much of undici's `Client` as is used: one connection, opened when there is a request. */
export interface Connection {
  dispatch(
    options: {
      path: string;
      method: "GET" | "POST";
      headers: Record<string, string>;
      body: Uint8Array | null;
    },
    handler: object,
  ): boolean;
  destroy(): Promise<void>;
  on(event: "disconnect", listener: () => void): unknown;
}

export interface PoolParts {
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly dial: DialParts;
  readonly maxConnections: number;
  readonly open: (
    origin: string,
    connect: (options: ConnectOptions, callback: ConnectCallback) => void,
  ) => Connection;
  /** Called when the pool has neither connections nor requests left. */
  readonly onEmpty: (origin: string) => void;
}

interface Slot {
  readonly connection: Connection;
  /** The last attempt to open this connection. */
  dial: Dial | undefined;
}

/**
 * The connections to one origin, each with one request at a time. Not undici's `Pool`: there a connection that is being
 * opened belongs to no request, so that a deadline could neither end it nor tell how far it had come.
 */
export class OriginPool implements ExchangeHost<Slot> {
  readonly #origin: string;
  readonly #parts: PoolParts;
  readonly #idle: Slot[] = [];
  readonly #waiting = new Map<Exchange<Slot>, string>();
  #busy = 0;
  #onIdle: (() => void) | undefined;

  constructor(origin: string, parts: PoolParts) {
    this.#origin = origin;
    this.#parts = parts;
  }

  get clock(): Pick<Clock, "now" | "monotonic"> {
    return this.#parts.clock;
  }

  post(request: OutgoingRequest, { path }: AllowedUrl): Promise<EgressAnswer> {
    return this.#start(new Exchange<Slot>(request, this), path).result;
  }

  async get(request: ReadingRequest, { path }: AllowedUrl): Promise<ReadingAnswer> {
    const exchange = this.#start(new Exchange<Slot>(request, this), path);
    const answer = await exchange.result;
    return { ...answer, headers: exchange.headers, cut: exchange.cut };
  }

  #start(exchange: Exchange<Slot>, path: string): Exchange<Slot> {
    const slot = this.#freeSlot();
    if (slot === undefined) this.#waiting.set(exchange, path);
    else this.#send(slot, exchange, path);
    return exchange;
  }

  /** Resolves when no request is under way, with all connections closed. */
  async close(): Promise<void> {
    const drained = new Promise<void>((resolve) => (this.#onIdle = resolve));
    await Promise.all(this.#idle.splice(0).map(({ connection }) => connection.destroy()));
    this.#tellIfIdle();
    await drained;
  }

  routeOf({ slot }: Exchange<Slot>, startedAt: number): Route | undefined {
    return slot?.dial?.routeSince(startedAt);
  }

  onLate(exchange: Exchange<Slot>): void {
    const { slot } = exchange;
    slot?.dial?.abort();
    const why =
      slot === undefined ? "no connection was free before the deadline" : "not sent before the deadline";
    exchange.endUnsent({ outcome: { kind: "unreachable", reason: "connect" }, detail: why });
    if (slot === undefined) this.#waiting.delete(exchange);
    else void slot.connection.destroy();
    this.#tellIfIdle();
  }

  onDone(exchange: Exchange<Slot>, failed: boolean): void {
    const { slot } = exchange;
    if (slot === undefined) return;
    this.#busy -= 1;
    const failure = slot.dial?.failure;
    if (failure !== undefined && !exchange.sent) exchange.endUnsent(failure);
    // After a failure undici would open the same client again, with state of the failed connection. We drop it instead.
    if (failed || this.#onIdle !== undefined) queueMicrotask(() => void slot.connection.destroy());
    else this.#idle.push(slot);
    this.#sendNext();
    this.#tellIfIdle();
  }

  #sendNext(): void {
    const [next] = this.#waiting;
    const slot = next === undefined ? undefined : this.#freeSlot();
    if (next === undefined || slot === undefined) return;
    const [exchange, path] = next;
    this.#waiting.delete(exchange);
    this.#send(slot, exchange, path);
  }

  #send(slot: Slot, exchange: Exchange<Slot>, path: string): void {
    this.#busy += 1;
    exchange.slot = slot;
    slot.dial?.expectAnswer();
    const { headers, body } = exchange.request;
    const method = body === undefined ? "GET" : "POST";
    slot.connection.dispatch({ path, method, headers, body: body ?? null }, exchange);
  }

  /** The connection that was used last: the receiver is least likely to have closed it, and spare ones may close. */
  #freeSlot(): Slot | undefined {
    const idle = this.#idle.pop();
    if (idle !== undefined || this.#busy >= this.#parts.maxConnections) return idle;
    const connection = this.#parts.open(this.#origin, (options, callback) => {
      slot.dial = new Dial(this.#parts.dial, options, callback);
    });
    const slot: Slot = { connection, dial: undefined };
    connection.on("disconnect", () => this.#forget(slot));
    return slot;
  }

  /** Called when an idle connection was closed. */
  #forget(slot: Slot): void {
    const index = this.#idle.indexOf(slot);
    if (index === -1) return;
    this.#idle.splice(index, 1);
    queueMicrotask(() => void slot.connection.destroy());
    this.#tellIfIdle();
  }

  #tellIfIdle(): void {
    if (this.#busy > 0 || this.#waiting.size > 0) return;
    this.#onIdle?.();
    if (this.#idle.length === 0) this.#parts.onEmpty(this.#origin);
  }
}
