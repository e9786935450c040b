import type { LogRecord, SightingOf } from "../../world/run-log.js";
import type { Report } from "../violation.js";

const HANDLER = /^hnd_/;
// Times of one moment may differ in their last digit.
const A_MOMENT_MS = 0.01;
// How long a process may be late for what was done to it or to the database before.
const AFTERMATH_MS = 20_000;

/** Judges who was given what, and what he did with it (W6, W7, W8). */
export class LeaseLaw {
  readonly #report: Report;
  readonly #consumers: ReadonlySet<string>;
  readonly #epochs = new Map<string, bigint>();
  readonly #pausedUntil = new Map<string, number>();
  readonly #begun = new Map<string, { readonly at: number; readonly by: string }>();
  /** What a person redrove while it waited: it waits twice then, and without a key both may run at once. */
  readonly #twice = new Set<string>();
  /** What was forgotten while it waited somewhere, and came again. */
  readonly #forgotten = new Set<number>();
  #lastFault = -Infinity;

  constructor(consumers: readonly string[], report: Report) {
    this.#consumers = new Set(consumers);
    this.#report = report;
  }

  observe(record: LogRecord): void {
    const { at } = record;
    if (record.kind === "fault" && !record.what.startsWith("trip.")) this.#lastFault = at;
    if (record.kind === "claim") this.#dispatched(record);
    if (record.kind === "leased") this.#leased(record, at);
    if (record.kind === "applied") this.#applied(record);
    if (record.kind === "paused") this.#paused(record, at);
    if (record.kind === "resumed") this.#pausedUntil.delete(record.consumer);
    if (record.kind === "staged" && record.verb === "redrive" && record.said === "staged")
      this.#twice.add(nameOf(record));
    if (record.kind === "forgotten") this.#forgotten.add(record.number);
    if (record.kind === "begun" || record.kind === "over") this.#runs(record, at);
  }

  #dispatched({ claims }: SightingOf<"claim">): void {
    for (const { consumer } of claims)
      if (HANDLER.test(consumer.id))
        this.#report("W7 lease", `a dispatcher was given a lane of ${consumer.id}`);
  }

  /** Of two pauses the one that ends later stays. */
  #paused({ consumer, forMs }: SightingOf<"paused">, at: number): void {
    this.#pausedUntil.set(consumer, Math.max(this.#pausedUntil.get(consumer) ?? 0, at + forMs));
  }

  #leased({ lanes }: SightingOf<"leased">, at: number): void {
    for (const { consumer, lane, epoch } of lanes) {
      if (!this.#consumers.has(consumer))
        this.#report("W7 lease", `a worker was given ${lane} of ${consumer}, which is no handler`);
      const until = this.#pausedUntil.get(consumer) ?? 0;
      if (at < until - A_MOMENT_MS)
        this.#report(
          "W6 pause",
          `${lane} of ${consumer} was leased at ${at}, and it is paused until ${until}`,
        );
      const before = this.#epochs.get(lane) ?? 0n;
      if (epoch <= before)
        this.#report("W7 lease", `${lane} was leased under the epoch ${epoch} after ${before}`);
      this.#epochs.set(lane, epoch);
    }
  }

  #applied({ claim, handled, said, count }: SightingOf<"applied">): void {
    if (said !== "applied" && said !== "duplicate") return;
    const { lane, epoch, numbers } = claim;
    if (epoch < (this.#epochs.get(lane) ?? 0n))
      this.#report(
        "W7 lease",
        `event ${numbers[0]} of ${lane} was ${said} by a claim that had passed to another`,
      );
    if (said === "applied" && count !== handled.length)
      this.#report("W7 lease", `${count} events of ${lane} were settled, and ${handled.length} were handled`);
  }

  /** A long handler whose process and database are well keeps its lease. */
  #runs(record: SightingOf<"begun" | "over">, at: number): void {
    if (record.kind === "begun" && !record.isLong) return;
    const name = nameOf(record);
    const by = `node ${record.node}.${record.life}`;
    const before = this.#begun.get(name);
    if (record.kind === "over") {
      if (before?.by === by) this.#begun.delete(name);
      return;
    }
    const isLost = before !== undefined && !this.#twice.has(name) && !this.#forgotten.has(record.number);
    if (isLost && before.at - this.#lastFault > AFTERMATH_MS)
      this.#report(
        "W8 heartbeat",
        `event ${record.number} at ${record.consumer} was begun by ${by} while ${before.by} was at it`,
      );
    this.#begun.set(name, { at, by });
  }
}

function nameOf({ consumer, number }: { readonly consumer: string; readonly number: number }): string {
  return `${consumer} ${number}`;
}
