import { memoryStore } from "posthorn/memory";
import type { MemoryTx } from "posthorn/memory";
import type { QuickClock } from "../quick-clock.js";
import { hashOf } from "../wire.js";
import type { EffectRow, Ground, HandlerForms, Write } from "./form.js";

/** One store for all processes of a run: they share it as they would a database. */
export function memoryGround(clock: QuickClock): Ground<MemoryTx, "asynchronous"> {
  const store = memoryStore({ clock, observer: () => undefined });
  const written: EffectRow[] = [];
  return {
    forms: formsOf(written),
    store: () => store,
    effects: () => written,
    rows: async () => {
      const { items } = await store.inboxRows({}, { limit: 1000, after: undefined });
      return Promise.all(
        items.map(async ({ storedAs = "", ...row }) => {
          const stored = await store.event(row.tenant, storedAs);
          const bodyHash = hashOf(stored?.body ?? new Uint8Array());
          // It shows no hash of its own.
          return Object.assign(row, { bodyHash, hashColumn: bodyHash });
        }),
      );
    },
    close: () => undefined,
  };
}

function formsOf(written: EffectRow[]): HandlerForms<MemoryTx, "asynchronous"> {
  const writeTo =
    (tx: MemoryTx): Write =>
    (row) =>
      tx.onCommit(() => written.push(row));
  return {
    one:
      (work) =>
      (event, { tx, idempotencyKey }) =>
        work(event, idempotencyKey("effect"), writeTo(tx)),
    batch: (max, work) => ({ by: "key", max, batch: (events, { tx }) => work(events, writeTo(tx)) }),
    long: (deadlineMs, before, work) => ({
      deadlineMs,
      long: async (event, context) => {
        await before(event, context);
        return (tx: MemoryTx) => work(event, context.idempotencyKey("effect"), writeTo(tx));
      },
    }),
  };
}
