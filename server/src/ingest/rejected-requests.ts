import type { Clock } from "posthorn";
import { keptHeaders, newId } from "posthorn/gateway";
import type { Logger } from "../observe/log.js";
import type { Metrics } from "../observe/metrics.js";
import { RateLimits } from "../rate-limits.js";
import type { RejectedRecord, RejectedRegistry } from "../store/rejected-request.js";
import type { ReceivedRequest } from "./received-request.js";

/** Why a request was rejected, for an operator. */
export interface Rejection {
  readonly code: string;
  readonly message: string;
  readonly diagnosis: readonly string[];
  /** The announced size of a body that was not read. */
  readonly bodyBytes?: number;
}

export interface RejectedRequestsParts {
  readonly registry: Pick<RejectedRegistry, "recordRejected">;
  readonly metrics: Pick<Metrics, "rejectedDropped">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly keepPerSource: number;
  readonly keepBodyBytes: number;
}

// A flood of rejected requests must not take the memory or the CPU time of others. These are the limits per source and per
// write; requests beyond them are counted and dropped.
const PER_SOURCE = { times: 10, perMs: 1000, burst: 50 };
const MOST_WAITING = 500;
const MOST_WAITING_BYTES = 8 * 1024 * 1024;

/** Records rejected requests in batches; during a flood, only some of them. */
export class RejectedRequests {
  readonly #parts: RejectedRequestsParts;
  readonly #limits: RateLimits;
  #waiting: RejectedRecord[] = [];
  #waitingBytes = 0;
  #dropped = 0;

  constructor(parts: RejectedRequestsParts) {
    this.#parts = parts;
    this.#limits = new RateLimits(PER_SOURCE, () => parts.clock.monotonic());
  }

  /** Whether one more request of this source will be recorded; counts it as dropped if not. */
  admits(source: string): boolean {
    const full = this.#waiting.length >= MOST_WAITING || this.#waitingBytes >= MOST_WAITING_BYTES;
    if (!full && this.#limits.take(source)) return true;
    this.#dropped++;
    return false;
  }

  /** Adds a request that was admitted. */
  add(source: string, request: ReceivedRequest, rejection: Rejection): void {
    const nowMs = this.#parts.clock.now();
    const { code, message, diagnosis, bodyBytes = request.body.length } = rejection;
    // Where the body was read, and all of it is kept. A body that was not read has its announced size.
    const isWhole = rejection.bodyBytes === undefined && request.body.length <= this.#parts.keepBodyBytes;
    const { url, headers, rawHeaders } = request;
    // A copy: a view would keep the whole body in memory, and `slice` of a Buffer is a view.
    const body = new Uint8Array(request.body.subarray(0, this.#parts.keepBodyBytes));
    this.#waitingBytes += body.length;
    this.#waiting.push({
      id: newId("rej", nowMs),
      source,
      receivedAt: new Date(nowMs),
      method: request.method,
      headers: keptHeaders(request.headers),
      body,
      bodyBytes,
      code,
      message,
      diagnosis,
      whole: isWhole ? { url, headers, rawHeaders } : undefined,
    });
  }

  /** Writes the batch; drops it when that fails, so that it does not fill the memory while the database is down. */
  async flush(): Promise<void> {
    const { registry, metrics, log, keepPerSource } = this.#parts;
    const batch = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    try {
      if (batch.length > 0) await registry.recordRejected(batch, keepPerSource);
    } catch (error) {
      this.#dropped += batch.length;
      log.warn({ err: error, requests: batch.length }, "rejected requests could not be kept");
    }
    if (this.#dropped === 0) return;
    metrics.rejectedDropped(this.#dropped);
    this.#dropped = 0;
  }
}
