import { reach } from "#faults";
import type { Written } from "../../outbox/outbox-store.js";
import type { OutgoingEvent } from "../../outbox/outgoing-event.js";
import type { OwnTransactions } from "./own-transaction.js";
import type { Call, KeyedWriter } from "./outbox-keys.js";
import { keyName } from "./outbox-keys.js";
import type { EventWriter } from "./outbox-write.js";

interface Waiting {
  readonly events: Call;
  readonly resolve: (written: readonly Written[]) => void;
  readonly reject: (error: unknown) => void;
}

export interface AppenderParts {
  readonly transactions: OwnTransactions;
  readonly events: EventWriter;
  readonly keyed: KeyedWriter;
  /** Called when something was committed. */
  readonly committed: () => void;
}

const MAX_EVENTS = 500;
const MAX_BYTES = 4_000_000;

// A turn of the event loop: callers that were answered by one batch ask again together, and share the next one.
const soon: (work: () => void) => void =
  typeof setImmediate === "function" ? setImmediate : (work) => setTimeout(work, 0);

/**
 * Writes events in transactions of the store's own. One at a time, in the order of the calls: of two that are under
 * way at once, the later one could be committed first, and the events of one publisher would change places.
 */
export class Appender {
  readonly #parts: AppenderParts;
  #waiting: Waiting[] = [];
  #planned = false;

  constructor(parts: AppenderParts) {
    this.#parts = parts;
  }

  append(events: readonly OutgoingEvent[]): Promise<readonly Written[]> {
    if (events.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ events, resolve, reject });
      this.#plan();
    });
  }

  #plan(): void {
    if (this.#planned || this.#waiting.length === 0) return;
    this.#planned = true;
    soon(() => {
      void this.#flush().finally(() => {
        this.#planned = false;
        this.#plan();
      });
    });
  }

  async #flush(): Promise<void> {
    const calls = this.#waiting.splice(0, sharing(this.#waiting));
    try {
      reach("append.before_write");
      const written = await this.#write(calls.map(({ events }) => events));
      reach("append.after_write");
      calls.forEach(({ resolve }, n) => resolve(written[n] ?? []));
      this.#parts.committed();
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  }

  #write(calls: readonly Call[]): Promise<readonly (readonly Written[])[]> {
    const { transactions, events, keyed } = this.#parts;
    if (calls.some((call) => call.some(({ idGiven }) => idGiven))) {
      return transactions.run((session) => keyed.write(session, calls), "fresh");
    }
    const written = calls.map((call) => call.map((): Written => "written"));
    return transactions.runFrom(events.statement(calls.flat()), () => Promise.resolve(written));
  }
}

/** How many calls, from the first on, share one statement. */
function sharing(waiting: readonly Waiting[]): number {
  const names = new Set<string>();
  let events = 0;
  let bytes = 0;
  for (const [index, call] of waiting.entries()) {
    events += call.events.length;
    bytes += call.events.reduce((sum, { body }) => sum + body.length, 0);
    const given = new Set(call.events.filter(({ idGiven }) => idGiven).map(keyName));
    // What becomes of the second of two calls with one id depends on what became of the first.
    const meets = [...given].some((name) => names.has(name));
    if (index > 0 && (events > MAX_EVENTS || bytes > MAX_BYTES || meets)) return index;
    for (const name of given) names.add(name);
  }
  return waiting.length;
}
