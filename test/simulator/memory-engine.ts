import { memoryStore } from "posthorn/memory";
import type { MemoryTx } from "posthorn/memory";
import type { OpenStore, SimulatedStore } from "../../simulator/world/simulated-store.js";
import { MemoryTransaction } from "../../library/src/stores/memory/client/transaction.js";

/**
 * The shipped memory store as the database of a simulated run: its fences and counters are judged as the model's are.
 * It loses nothing with the power, because it has no disk.
 */
export const openMemoryStore: OpenStore = ({ clock }) => {
  const ownClock = { ...clock, sleep: () => Promise.reject(new Error("a store does not sleep")) };
  const memory = memoryStore({ clock: ownClock, environment: "test" });
  const rows = new Map<string, number>();
  let transactions = 0;
  const store: SimulatedStore<MemoryTx> = {
    inbox: memory,
    outbox: memory,
    begin: () => new MemoryTransaction(++transactions),
    commit(tx) {
      const failure = (tx as MemoryTransaction).commit();
      if (failure !== undefined) throw failure.thrown;
    },
    rollback: (tx) => (tx as MemoryTransaction).rollback(),
    write: (tx, row) => tx.onCommit(() => void rows.set(row, (rows.get(row) ?? 0) + 1)),
    written: () => rows,
    cancelled: () => memory.cancelled(),
    isPassedOver: async (deliveryId) => (await memory.ends(deliveryId)).at(-1)?.resolvedHow === "skipped",
    unplaced: () => 0,
  };
  return store;
};
