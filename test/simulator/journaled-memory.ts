import { memoryStore } from "posthorn/memory";
import type { MemoryStore, MemoryTx } from "posthorn/memory";
import type { OpenStoredStore, StoredStore } from "../../simulator/stored/stored-store.js";
import { MemoryTransaction } from "../../library/src/stores/memory/client/transaction.js";
import type { Applied, ApplyLimits, ApplyWork } from "../../library/src/inbox/worker/worker-store.js";
import type { Handled } from "../../library/src/inbox/inbox-store.js";
import type { Forgotten, StagedAgain } from "../../library/src/operator/replay-store.js";
import type { Claim } from "../../library/src/lanes/lane-store.js";

interface Now {
  readonly now: number;
  readonly monotonic: number;
}

/** One call that has changed the store, and when. */
interface Entry {
  readonly at: Now;
  make: (memory: MemoryStore) => unknown;
}

type Verbs = Readonly<Record<string, (...given: unknown[]) => unknown>>;

// They change nothing, so that no entry is needed to bring a store back.
const READS: ReadonlySet<string> = new Set([
  "find",
  "read",
  "readHandlers",
  "untilDue",
  "roundOf",
  "readEndpoints",
  "listEndpoints",
  "blockedLanes",
  "deadLetters",
  "inboxRows",
  "refusedEvents",
  "namedEvents",
  "heldEvents",
  "event",
  "events",
  "deliveriesOf",
  "unhandled",
  "attempts",
  "cancelled",
  "ends",
]);

// What these have refused is not made again: it was refused because a handler ran, which a store that is brought back does not know.
const CHANGES: Readonly<Record<string, (said: unknown) => boolean>> = {
  markStored: (said) => said === true,
  markApplied: (said) => said === true,
  forgetEvent: (said) => (said as Forgotten).kind === "forgotten",
  stageAgain: (said) => (said as readonly StagedAgain[]).includes("staged"),
};

/**
 * The shipped memory store as a database that can lose its power: it keeps a journal of the calls that have changed it, and
 * is brought back as a new store to which the calls of that journal are made again, each at its own time.
 */
export class JournaledMemory {
  readonly #clock: { now(): number; monotonic(): number };
  readonly #opsOf = new WeakMap<MemoryTx, ((memory: MemoryStore, tx: MemoryTx) => unknown)[]>();
  readonly store: MemoryStore;
  #memory: MemoryStore;
  #journal: Entry[] = [];
  #replayed: Now | undefined;

  constructor(clock: { now(): number; monotonic(): number }) {
    this.#clock = clock;
    this.#memory = this.#open();
    this.store = this.#recording();
  }

  /** Remembers how far the journal is, and returns what brings that state back. */
  snapshot(): () => Promise<void> {
    const kept = this.#journal.length;
    return () => this.#bringBack(this.#journal.slice(0, kept));
  }

  async #bringBack(journal: Entry[]): Promise<void> {
    const memory = this.#open();
    // From here on nobody reaches the store that has lost its power.
    this.#memory = memory;
    this.#journal = journal;
    for (const { at, make } of journal) {
      this.#replayed = at;
      await make(memory);
    }
    this.#replayed = undefined;
  }

  #open(): MemoryStore {
    const clock = {
      now: () => this.#replayed?.now ?? this.#clock.now(),
      monotonic: () => this.#replayed?.monotonic ?? this.#clock.monotonic(),
      sleep: () => Promise.reject(new Error("a store does not sleep")),
    };
    return memoryStore({ clock, environment: "test" });
  }

  /** The store's verbs, each of which writes an entry where it changes something. */
  #recording(): MemoryStore {
    const names = Object.entries(this.#memory).filter(([, verb]) => typeof verb === "function");
    const verbs = names.map(([name]) => [name, (...given: unknown[]) => this.#call(name, given)]);
    return {
      ...this.#memory,
      ...Object.fromEntries(verbs),
      apply: (claim, work, limits) => this.#apply(claim, work, limits),
      // A dispatcher counts on in the map that it has handed in.
      claim: (request) => this.#call("claim", [{ ...request, inFlight: new Map(request.inFlight) }]) as never,
      newest: (tx, version) => this.#inTransaction(tx, (memory, each) => memory.newest(each, version)),
      write: (events, tx) => this.#inTransaction(tx, (memory, each) => memory.write(events, each)),
    };
  }

  #call(name: string, given: unknown[]): unknown {
    const make = (memory: MemoryStore): unknown => (memory as unknown as Verbs)[name]?.(...given);
    if (READS.has(name)) return make(this.#memory);
    const entry = this.#note(make);
    const answer = make(this.#memory);
    const changes = CHANGES[name];
    if (changes !== undefined) void this.#unlessRefused(entry, answer, changes);
    return answer;
  }

  async #unlessRefused(entry: Entry, answer: unknown, changes: (said: unknown) => boolean): Promise<void> {
    if (!changes(await answer)) entry.make = () => undefined;
  }

  #note(make: Entry["make"]): Entry {
    const at = { now: this.#clock.now(), monotonic: this.#clock.monotonic() };
    const entry: Entry = { at, make: (memory) => Promise.resolve(make(memory)).catch(() => undefined) };
    this.#journal.push(entry);
    return entry;
  }

  async #inTransaction<T>(
    tx: MemoryTx,
    doing: (memory: MemoryStore, tx: MemoryTx) => Promise<T>,
  ): Promise<T> {
    const answer = await doing(this.#memory, tx);
    this.#opsOf.set(tx, [...(this.#opsOf.get(tx) ?? []), doing]);
    return answer;
  }

  async #apply(claim: Claim, work: ApplyWork<MemoryTx>, limits: ApplyLimits): Promise<Applied> {
    let [used, said]: [MemoryTx | undefined, readonly Handled[]] = [undefined, []];
    const memory = this.#memory;
    const applied = await memory.apply(
      claim,
      async (tx, run) => {
        used = tx;
        said = await work(tx, run);
        return said;
      },
      limits,
    );
    if (memory !== this.#memory || (applied.kind !== "applied" && applied.kind !== "duplicate"))
      return applied;
    const ops = used === undefined ? [] : (this.#opsOf.get(used) ?? []);
    const [head, ...others] = claim.run.slice(0, applied.count);
    const run: Claim["run"] = head === undefined ? claim.run : [head, ...others];
    const { signal } = new AbortController();
    const again: ApplyWork<MemoryTx> = async (tx) => {
      for (const op of ops) await op(this.#memory, tx);
      return said;
    };
    this.#note((brought) => brought.apply({ ...claim, run }, again, { ...limits, signal }));
    return applied;
  }
}

/** The shipped memory store as the database of a simulated run of workers. */
export const openStoredMemory: OpenStoredStore = ({ clock }) => {
  const journaled = new JournaledMemory(clock);
  const { store: memory } = journaled;
  let transactions = 0;
  const store: StoredStore<MemoryTx> = {
    working: memory,
    inbox: memory,
    outbox: memory,
    onCommit: (tx, effect) => tx.onCommit(effect),
    begin: () => new MemoryTransaction(++transactions),
    commit(tx) {
      const failure = (tx as MemoryTransaction).commit();
      if (failure !== undefined) throw failure.thrown;
    },
    rollback: (tx) => (tx as MemoryTransaction).rollback(),
    write: () => undefined,
    written: () => new Map(),
    cancelled: () => memory.cancelled(),
    isPassedOver: () => Promise.resolve(false),
    unplaced: () => 0,
    snapshot: () => journaled.snapshot(),
  };
  return store;
};
