import { equalBytes } from "../../../bytes.js";
import type { OutgoingEvent } from "../../../outbox/outgoing-event.js";
import type { Written } from "../../../outbox/outbox-store.js";

/** Ids that callers gave, each with the hash of its body; on top of those of a base, which it leaves alone until `keep`. */
export class GivenIds {
  readonly #base: GivenIds | undefined;
  readonly #hashes = new Map<string, Uint8Array>();
  /** Of ids whose event is gone: until when they are known, by the wall clock. */
  readonly #keepUntil = new Map<string, number>();

  constructor(base?: GivenIds) {
    this.#base = base;
  }

  /** Says what becomes of an event, and remembers its id where that is new. */
  add(event: OutgoingEvent): Written {
    if (!event.idGiven) return "written";
    const key = JSON.stringify([event.tenant, event.id]);
    const hash = event.contentHash ?? event.body;
    const known = this.hashOf(key);
    if (known !== undefined) return equalBytes(known, hash) ? "duplicate" : "conflict";
    this.#hashes.set(key, hash.slice());
    return "written";
  }

  /** Hands everything down to the base. */
  keep(): void {
    if (this.#base === undefined) return;
    for (const [key, hash] of this.#hashes) this.#base.#hashes.set(key, hash);
  }

  /** Call it when the event is gone: its id is known up to a time of its own. */
  keepUntil({ tenant, id }: OutgoingEvent, at: number): void {
    const key = JSON.stringify([tenant, id]);
    if (this.#hashes.has(key)) this.#keepUntil.set(key, at);
  }

  /** Forgets ids that are known no longer, and says how many. */
  forget(now: number): number {
    const passed = [...this.#keepUntil].filter(([, at]) => at <= now).map(([key]) => key);
    for (const key of passed) {
      this.#keepUntil.delete(key);
      this.#hashes.delete(key);
    }
    return passed.length;
  }

  hashOf(key: string): Uint8Array | undefined {
    return this.#hashes.get(key) ?? this.#base?.hashOf(key);
  }
}
