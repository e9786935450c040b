import type { IngestedEvent } from "../observe/activity.js";
import type { ServerParts } from "../parts.js";
import { RateLimits } from "../rate-limits.js";

// A line costs more than the event that it tells of: under a flood, some are enough.
const PER_SOURCE = { times: 20, perMs: 1000, burst: 100 };
const TOLD_EVERY_MS = 10_000;

/** Writes a line for each event or request of a source; of a flood some, and how many were left out. */
export class IngestLines {
  readonly #parts: Pick<ServerParts, "log" | "clock">;
  readonly #limits: RateLimits;
  readonly #left = new Map<string, { count: number; readonly sinceMs: number }>();

  constructor(parts: Pick<ServerParts, "log" | "clock">) {
    this.#parts = parts;
    this.#limits = new RateLimits(PER_SOURCE, () => parts.clock.monotonic());
  }

  write({ source, verdict, type, eventId, code }: IngestedEvent): void {
    // A store that does not take it has lines of its own.
    if (verdict === "failed") return;
    const { log } = this.#parts;
    const name = `${source} ${verdict}`;
    if (!this.#limits.take(name)) return this.#leaveOut(source, name, verdict);
    const facts = {
      source,
      ...(eventId !== undefined && { id: eventId }),
      ...(type !== undefined && { type }),
      ...(code !== undefined && { code }),
    };
    const level =
      verdict === "stored" || verdict === "duplicate" || verdict === "handshake" ? "info" : "warn";
    log[level](facts, verdict);
  }

  #leaveOut(source: string, name: string, verdict: IngestedEvent["verdict"]): void {
    const nowMs = this.#parts.clock.monotonic();
    const left = this.#left.get(name) ?? { count: 0, sinceMs: nowMs };
    left.count += 1;
    this.#left.set(name, left);
    if (nowMs - left.sinceMs < TOLD_EVERY_MS) return;
    this.#left.delete(name);
    this.#parts.log.info({ source, verdict, requests: left.count }, "lines left out");
  }
}
