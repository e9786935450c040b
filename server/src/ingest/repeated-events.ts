import { createHash } from "node:crypto";
import type { Clock, Ingested } from "posthorn";
import { keptHeaders } from "posthorn/gateway";
import type { Logger } from "../observe/log.js";
import type { ServerOutbox } from "../parts.js";
import { RateLimits } from "../rate-limits.js";
import type { NamedEvent } from "./incoming-event.js";
import type { ReceivedRequest } from "./received-request.js";

type Repeat = Parameters<ServerOutbox["recordRepeats"]>[0][number];

export interface RepeatedEventsParts {
  readonly outbox: Pick<ServerOutbox, "recordRepeats">;
  readonly clock: Clock;
  readonly log: Logger;
}

// A sender that repeats everything must not take the memory or the database of others. Repeats beyond these limits are
// counted by the series, and not kept.
const PER_SOURCE = { times: 50, perMs: 1000, burst: 500 };
const MOST_WAITING = 1000;
const MOST_WAITING_BYTES = 8 * 1024 * 1024;

/** Records duplicates and conflicts after they were answered, in batches; during a flood, only some of them. */
export class RepeatedEvents {
  readonly #parts: RepeatedEventsParts;
  readonly #limits: RateLimits;
  #waiting: Omit<Repeat, "bodyHash">[] = [];
  #waitingBytes = 0;
  #dropped = 0;

  constructor(parts: RepeatedEventsParts) {
    this.#parts = parts;
    this.#limits = new RateLimits(PER_SOURCE, () => parts.clock.monotonic());
  }

  add({ kind, id }: Ingested, { incoming }: NamedEvent, request: ReceivedRequest): void {
    if (kind === "stored") return;
    const { event, windowS } = incoming;
    const full = this.#waiting.length >= MOST_WAITING || this.#waitingBytes >= MOST_WAITING_BYTES;
    if (full || !this.#limits.take(event.source)) {
      this.#dropped++;
      return;
    }
    this.#waitingBytes += event.body.length;
    this.#waiting.push({
      tenant: event.tenant,
      eventId: id,
      kind,
      receivedAt: new Date(this.#parts.clock.now()),
      headers: keptHeaders(request.headers),
      // A copy: the reader of bodies uses its buffers again.
      body: new Uint8Array(event.body),
      windowS,
    });
  }

  /** Writes the batch; drops it when that fails, so that it does not fill the memory while the database is down. */
  async flush(): Promise<void> {
    const batch = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    try {
      if (batch.length > 0) await this.#parts.outbox.recordRepeats(batch.map(hashed));
    } catch (error) {
      this.#parts.log.warn(
        { err: error, repeats: batch.length },
        "duplicates and conflicts could not be kept",
      );
    }
    if (this.#dropped === 0) return;
    this.#parts.log.debug({ repeats: this.#dropped }, "more duplicates and conflicts came than are kept");
    this.#dropped = 0;
  }
}

// Here and not in `add`: the sender has its answer by now.
function hashed(repeat: Omit<Repeat, "bodyHash">): Repeat {
  return Object.assign(repeat, {
    bodyHash: new Uint8Array(createHash("sha256").update(repeat.body).digest()),
  });
}
