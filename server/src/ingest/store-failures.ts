import type { Clock } from "posthorn";
import type { Logger } from "../observe/log.js";

const EVERY_MS = 1000;

/** Logs failures of the store at most once a second per operation: while the database is down, every request fails. */
export class StoreFailures {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #told = new Map<string, { atMs: number; untold: number }>();

  constructor({ log, clock }: { readonly log: Logger; readonly clock: Clock }) {
    this.#log = log;
    this.#clock = clock;
  }

  note(operation: "ingest" | "sources", error: unknown): void {
    const nowMs = this.#clock.monotonic();
    const last = this.#told.get(operation);
    if (last !== undefined && nowMs - last.atMs < EVERY_MS) {
      last.untold++;
      return;
    }
    this.#told.set(operation, { atMs: nowMs, untold: 0 });
    this.#log.error(
      { err: error, operation, more: last?.untold ?? 0 },
      "the store failed; requests are answered 503",
    );
  }
}
