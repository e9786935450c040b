import type { Compared, NewestStore, ResourceVersion } from "../../../inbox/handler/newest.js";
import { PosthornError } from "../../../posthorn-error.js";
import type { StoreErrorCode } from "../../../store-errors.js";
import type { MemoryTransaction, MemoryTx } from "../client/transaction.js";

type Known = Pick<ResourceVersion, "kind" | "version" | "eventId">;

/** A resource that a transaction has asked for: it is held until the transaction ends. */
interface Held {
  readonly tx: MemoryTransaction;
  /** What the transaction has kept and not committed. */
  kept: Known | undefined;
}

/** The newest versions, and which open transaction holds which of them. */
export class NewestTable implements NewestStore<MemoryTx, "asynchronous"> {
  readonly #known = new Map<string, Known>();
  readonly #held = new Map<string, Held>();
  /** For whose end a transaction waits. */
  readonly #waits = new Map<MemoryTransaction, MemoryTransaction>();

  async newest(given: MemoryTx, { kind, version, eventId, ...name }: ResourceVersion): Promise<Compared> {
    const tx = given as MemoryTransaction;
    const key = JSON.stringify([name.consumer, name.tenant, name.source, name.resource]);
    const held = await this.#hold(key, tx);
    const known = held.kept ?? this.#known.get(key);
    if (known !== undefined && known.kind !== kind) return "mixed";
    if (known !== undefined && known.version > version) return "stale";
    // A replay of the newest event brings the version that is known: it is handled again.
    if (known?.version === version && known.eventId !== eventId) return "stale";
    held.kept = { kind, version, eventId };
    return "newest";
  }

  async #hold(key: string, tx: MemoryTransaction): Promise<Held> {
    for (let held = this.#held.get(key); held !== undefined; held = this.#held.get(key)) {
      if (held.tx === tx) return held;
      if (this.#waitsFor(held.tx, tx)) throw deadlock();
      this.#waits.set(tx, held.tx);
      await held.tx.ended;
      this.#waits.delete(tx);
    }
    const held: Held = { tx, kept: undefined };
    // Throws where the transaction has ended meanwhile: nobody would let go of what it takes now.
    tx.onEnd((isCommitted) => {
      this.#held.delete(key);
      if (isCommitted && held.kept !== undefined) this.#known.set(key, held.kept);
    });
    this.#held.set(key, held);
    return held;
  }

  /** Whether one transaction waits for another, over however many in between. */
  #waitsFor(one: MemoryTransaction, other: MemoryTransaction): boolean {
    for (let each = this.#waits.get(one); each !== undefined; each = this.#waits.get(each)) {
      if (each === other) return true;
    }
    return false;
  }
}

function deadlock(): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_transaction_aborted",
    "Two transactions ask for the same resources in opposite orders, and would wait for each other for ever; this one ends.",
  );
}
