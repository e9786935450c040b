import type { LongContext, ReceivedEvent, TransactionMode } from "posthorn";
import type { ConsumerOptions } from "../../../library/src/inbox/worker/worker-options.js";
import type { QuickClock } from "../quick-clock.js";
import type { EffectRow, HandlerForms } from "./form.js";

/** So many events a batch takes. */
const BATCH = 3;
/** More than a lease: it ends well only where the lease is kept. */
const LONG_WORK_MS = 9000;
const LONG_DEADLINE_MS = 15_000;
const WAIT_MS = 1000;

/** What the host's handlers do. It stands for the world outside: no process that is started anew forgets it. */
export class Deeds {
  /** Whether the handler is mended that cannot handle its event. */
  mended = false;
  /** How many events the largest batch had. */
  largestBatch = 0;
  /** How often the other side was asked to charge, by the key of the step. */
  readonly charged = new Map<string, number>();
  readonly #clock: QuickClock;
  readonly #flaky = new Set<string>();
  readonly #occasions = new Map<string, string[]>();

  constructor(clock: QuickClock) {
    this.#clock = clock;
  }

  /** `books` has a handler of each form, and none for one type; `crm` takes everything, and cannot handle one event. */
  consumers<Tx, Mode extends TransactionMode>(
    forms: HandlerForms<Tx, Mode>,
  ): Readonly<Record<string, ConsumerOptions<Tx, Mode>>> {
    return {
      books: {
        retry: waits(40),
        handlers: {
          paid: forms.one((event, occasion, write) => {
            write(this.#rowOf("books", event, occasion));
            this.#failOnce(event.id);
          }),
          read: forms.batch(BATCH, (events, write) => {
            this.largestBatch = Math.max(this.largestBatch, events.length);
            for (const event of events) write(this.#rowOf("books", event, undefined));
          }),
          report: forms.long(
            LONG_DEADLINE_MS,
            (event, context) => this.#charge(context),
            (event, occasion, write) => write(this.#rowOf("books", event, occasion)),
          ),
        },
      },
      crm: {
        retry: waits(1),
        dead: "halt",
        handlers: {
          "*": forms.one((event, occasion, write) => {
            write(this.#rowOf("crm", event, occasion));
            if (event.id.startsWith("cursed") && !this.mended)
              throw new Error("as asked: it cannot be handled");
          }),
        },
      },
    };
  }

  #failOnce(id: string): void {
    if (!id.startsWith("flaky") || this.#flaky.has(id)) return;
    this.#flaky.add(id);
    throw new Error("as asked: once");
  }

  /** A step that must not be done twice, and the work after it. */
  async #charge({ once, signal }: LongContext): Promise<void> {
    await once("charge", {
      check: (key) => (this.charged.has(key) ? "charged" : undefined),
      act: (key) => {
        this.charged.set(key, (this.charged.get(key) ?? 0) + 1);
        return "charged";
      },
    });
    await this.#clock.sleep(LONG_WORK_MS, signal);
    if (signal.aborted) throw signal.reason;
  }

  #rowOf(consumer: string, { source, id, body }: ReceivedEvent, occasion: string | undefined): EffectRow {
    return { consumer, round: this.#roundOf(`${consumer} ${id}`, occasion), source, id, body };
  }

  /** By the word of nobody: each new name of an occasion is another round. A batch is given none, and is never replayed here. */
  #roundOf(name: string, occasion: string | undefined): number {
    if (occasion === undefined) return 1;
    const known = this.#occasions.get(name) ?? [];
    if (!known.includes(occasion)) known.push(occasion);
    this.#occasions.set(name, known);
    return known.indexOf(occasion) + 1;
  }
}

function waits(times: number) {
  return { waitsMs: Array.from({ length: times }, () => WAIT_MS), jitter: 0 };
}
