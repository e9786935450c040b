import type { InboxStore } from "posthorn";
import { memoryDedup, memoryStore } from "posthorn/memory";
import type { MemoryStore, MemoryTx } from "posthorn/memory";
import { createFakeClock } from "posthorn/testing";
import type {
  DedupBench,
  DedupHarness,
  FakeClock,
  InboxBench,
  InboxHarness,
  OutboxBench,
  OutboxHarness,
} from "posthorn/testing";
import { MemoryTransaction } from "../../library/src/stores/memory/client/transaction.js";

const HOUR_S = 3600;

/** What every store in this process can promise. */
export const IN_PROCESS = {
  sharesHostTransaction: false,
  survivesPowerLoss: false,
  multiProcess: false,
  clock: "process",
} as const;

/** A harness around a dedup adapter that takes its time from the clock it is given. */
export function inProcessDedup(
  make: (clock: FakeClock) => Omit<DedupBench, "time" | "close">,
  { multiProcess = false }: { readonly multiProcess?: boolean } = {},
): DedupHarness {
  const transactional = make(createFakeClock()).begin !== undefined;
  return {
    capabilities: { ...IN_PROCESS, sharesHostTransaction: transactional, multiProcess },
    exactTime: true,
    open() {
      const clock = createFakeClock();
      return Promise.resolve({ ...make(clock), time: timeOf(clock), close: () => Promise.resolve() });
    },
  };
}

/** An inbox in this process, and what it has refused. */
export type InProcessInbox = InboxStore<MemoryTx, "asynchronous"> & Pick<MemoryStore, "refused">;

/** What the naive inbox lets a case do to it, and the memory store has nothing like. */
export type NaiveMeans = Pick<InboxBench<MemoryTx>, "run" | "saturate" | "unanswered">;

/** A harness around a store that takes its time from the clock it is given, and whose transactions are the memory store's. */
export function inProcessInbox(
  make: (clock: FakeClock) => InProcessInbox,
  more: Pick<InboxBench, "patienceMs"> = {},
  naive?: (store: InProcessInbox) => NaiveMeans,
): InboxHarness<MemoryTx> {
  const isNaive = naive !== undefined;
  return {
    capabilities: { ...IN_PROCESS, sharesHostTransaction: true },
    transactions: "asynchronous",
    exactTime: true,
    listsRefused: true,
    runsStatements: isNaive,
    saturates: isNaive,
    losesAnswers: isNaive,
    open() {
      const bench = inboxBench(make);
      const [store] = bench.stores as InProcessInbox[];
      return Promise.resolve({ ...bench, ...more, ...(store && naive?.(store)) });
    },
  };
}

function inboxBench(make: (clock: FakeClock) => InProcessInbox): InboxBench<MemoryTx> {
  const clock = createFakeClock();
  const store = make(clock);
  const written: string[] = [];
  return {
    stores: [store, store],
    time: timeOf(clock),
    write: (tx, mark) => tx.onCommit(() => void written.push(mark)),
    written: () => Promise.resolve([...written]),
    refused: () => Promise.resolve(store.refused()),
    close: () => Promise.resolve(),
  };
}

/** A harness around an outbox that takes its time from the clock it is given, and whose transactions are the memory store's. */
export function inProcessOutbox(
  make: (clock: FakeClock, firstEvent: bigint) => MemoryStore,
  more: Pick<OutboxBench, "patienceMs"> = {},
): OutboxHarness<MemoryTx> {
  return {
    capabilities: { ...IN_PROCESS, sharesHostTransaction: true },
    transactions: "asynchronous",
    exactTime: true,
    listsCancelled: true,
    open: () => Promise.resolve({ ...outboxBench(make, 1n), ...more }),
    openAt: (firstEvent) => Promise.resolve({ ...outboxBench(make, firstEvent), ...more }),
  };
}

function outboxBench(
  make: (clock: FakeClock, firstEvent: bigint) => MemoryStore,
  firstEvent: bigint,
): OutboxBench<MemoryTx> {
  const clock = createFakeClock();
  const outbox = make(clock, firstEvent);
  let transactions = 0;
  return {
    outboxes: [outbox, outbox],
    time: timeOf(clock),
    async transaction(work) {
      const tx = new MemoryTransaction(++transactions);
      try {
        const result = await work(tx);
        const failure = tx.commit();
        if (failure !== undefined) throw failure.thrown;
        return result;
      } catch (error) {
        tx.rollback();
        throw error;
      }
    },
    cancelled: () => Promise.resolve(outbox.cancelled()),
    close: () => Promise.resolve(),
  };
}

function timeOf(clock: FakeClock): DedupBench["time"] {
  return { tickS: HOUR_S, pass: (ms) => clock.advance(ms) };
}

export const memoryDedupHarness: DedupHarness = inProcessDedup((clock) => {
  const adapter = memoryDedup({ maxEntries: 10_000, clock });
  return { adapters: [adapter, adapter] };
});

export const memoryInboxHarness: InboxHarness<MemoryTx> = inProcessInbox((clock) => memoryStore({ clock }));

export const memoryOutboxHarness: OutboxHarness<MemoryTx> = inProcessOutbox((clock, firstEvent) =>
  memoryStore({ clock, firstEvent }),
);
