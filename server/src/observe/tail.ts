import type { TailKind, TailMessage } from "posthorn/client";

/** What happened, before it has its id. */
export type Happening = { readonly kind: TailKind } & Partial<Omit<TailMessage, "id" | "at" | "kind">>;

/** What a listener has missed, and what is there to make up for it. */
export interface Missed {
  /** How many are gone; undefined where nobody can say. */
  readonly lost: number | undefined;
  readonly messages: readonly TailMessage[];
}

const KEPT = 2000;

/**
 * The last things that happened on this node, and whoever listens. Ids are the node's name and a number, so that a
 * listener that comes back says how far it was, and one that comes back to another node is told that it missed some.
 */
export class Tail {
  readonly #node: string;
  readonly #now: () => number;
  readonly #listeners = new Set<(message: TailMessage) => void>();
  // A ring: the message of number n stands at n modulo its size.
  readonly #ring: TailMessage[] = [];
  #next = 1;

  constructor(node: string, now: () => number) {
    this.#node = node;
    this.#now = now;
  }

  tell(happening: Happening): void {
    const message: TailMessage = {
      id: `${this.#node}.${this.#next}`,
      at: new Date(this.#now()).toISOString(),
      kind: happening.kind,
      source: happening.source ?? null,
      endpointId: happening.endpointId ?? null,
      type: happening.type ?? null,
      eventId: happening.eventId ?? null,
      attempt: happening.attempt ?? null,
      outcome: happening.outcome ?? null,
      status: happening.status ?? null,
      error: happening.error ?? null,
      durationMs: happening.durationMs ?? null,
      because: happening.because ?? null,
      code: happening.code ?? null,
    };
    this.#ring[this.#next % KEPT] = message;
    this.#next++;
    for (const listener of this.#listeners) listener(message);
  }

  /** What came after the message of this id. */
  after(id: string): Missed {
    const [, node, text] = /^(.*)\.(\d{1,15})$/.exec(id) ?? [];
    const number = Number(text);
    // Another node, or an earlier start of this one: what was missed there is not known here.
    if (node !== this.#node || number >= this.#next) return { lost: undefined, messages: [] };
    const oldest = Math.max(1, this.#next - KEPT);
    const messages: TailMessage[] = [];
    for (let n = Math.max(oldest, number + 1); n < this.#next; n++) {
      const message = this.#ring[n % KEPT];
      if (message !== undefined) messages.push(message);
    }
    return { lost: Math.max(0, oldest - number - 1), messages };
  }

  /** Calls the listener with everything from now on, until the returned function is called. */
  listen(listener: (message: TailMessage) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
