import { describe, expect, it } from "vitest";
import type { AcceptLimits, Arrival, Handled } from "../../../inbox/inbox-store.js";
import type { Signal } from "../../../observer.js";
import { arrivalOf } from "../../../testing/conformance/inbox/harness.js";
import { createFakeClock } from "../../../testing/fake-clock.js";
import { memoryStore } from "../store.js";
import type { MemoryTx } from "../client/transaction.js";

// What every store promises is in test/conformance; here stands what only this one does.

const SUCCESS: Handled = { outcome: "success" };
const arrival: Arrival = await arrivalOf();
const limits = (): AcceptLimits => ({ acquireMs: 1000, signal: new AbortController().signal });

describe("memoryStore", () => {
  it("does a handler's writes at its commit, in their order", async () => {
    const done: string[] = [];
    const acceptance = await memoryStore().accept(
      arrival,
      (tx) => {
        tx.onCommit(() => void done.push("first"));
        tx.onCommit(() => void done.push("second"));
        expect(done).toEqual([]);
        return SUCCESS;
      },
      limits(),
    );
    expect(acceptance.kind).toBe("applied");
    expect(done).toEqual(["first", "second"]);
  });

  it("gives every transaction a number of its own", async () => {
    const store = memoryStore();
    const ids: number[] = [];
    for (const id of ["a", "b"]) {
      const noted = (tx: MemoryTx): Handled => {
        ids.push(tx.id);
        return SUCCESS;
      };
      await store.accept(await arrivalOf({ id }), noted, limits());
    }
    expect(ids).toEqual([1, 2]);
  });

  it("refuses writes of a handler that goes on after its end", async () => {
    let escaped: MemoryTx | undefined;
    const store = memoryStore();
    await store.accept(arrival, (tx) => ((escaped = tx), SUCCESS), limits());
    expect(() => escaped?.onCommit(() => undefined)).toThrow(
      expect.objectContaining({ code: "store_transaction_finished" }) as Error,
    );
  });

  it("throws store_commit_unknown when a write throws at the commit, and knows the event afterwards", async () => {
    const store = memoryStore();
    const cause = new Error("disk full");
    const done: string[] = [];
    const accepting = store.accept(
      arrival,
      (tx) => {
        tx.onCommit(() => {
          throw cause;
        });
        tx.onCommit(() => void done.push("the other"));
        return SUCCESS;
      },
      limits(),
    );
    await expect(accepting).rejects.toMatchObject({ code: "store_commit_unknown", cause });
    expect(done).toEqual(["the other"]);
    expect((await store.accept(arrival, () => SUCCESS, limits())).kind).toBe("duplicate");
  });

  it("hands back the reason of a signal that aborts, before or during the handler", async () => {
    const store = memoryStore();
    const reason = new Error("deadline");
    const before = await store.accept(arrival, () => SUCCESS, {
      acquireMs: 1,
      signal: AbortSignal.abort(reason),
    });
    expect(before).toEqual({ kind: "failed", error: reason });
    const deadline = new AbortController();
    const during = store.accept(arrival, () => new Promise<never>(() => undefined), {
      acquireMs: 1,
      signal: deadline.signal,
    });
    deadline.abort(reason);
    expect(await during).toEqual({ kind: "failed", error: reason });
  });

  it("notes a duplicate once a minute, and one of a short window at half of it", async () => {
    for (const [windowS, restMs] of [
      [1000, 60_000],
      [10, 5000],
    ] as const) {
      const clock = createFakeClock({ at: 0 });
      const store = memoryStore({ clock });
      const event = await arrivalOf({ windowS });
      await store.accept(event, () => SUCCESS, limits());
      const seen: unknown[] = [];
      for (const passMs of [1, restMs - 1, 1]) {
        await clock.advance(passMs);
        store.touch(event);
        await store.flush();
        const row = await store.read(event);
        seen.push([row?.receipts, row?.keepUntil?.getTime()]);
      }
      const [first, second] = [1 + windowS * 1000, 1 + restMs + windowS * 1000];
      expect(seen).toEqual([
        [2, first],
        [2, first],
        [3, second],
      ]);
    }
  });

  it("says of a failed event that it is kept for ever, until it is applied", async () => {
    const store = memoryStore({ clock: createFakeClock({ at: 0 }) });
    const event = await arrivalOf({ windowS: 10 });
    await store.fail(event, "first");
    store.touch(event);
    expect(await store.read(event)).toMatchObject({ keepUntil: undefined, receipts: 1, attempts: 1 });
    await store.accept(event, () => SUCCESS, limits());
    expect(await store.read(event)).toMatchObject({ keepUntil: new Date(10_000), receipts: 2, attempts: 2 });
  });

  it("keeps the latest thousand refused events", async () => {
    const store = memoryStore();
    for (let n = 0; n < 2500; n++) await store.refuse({ ...arrival, id: `evt_${n}` }, "stale");
    expect(store.refused()).toHaveLength(1000);
    expect(store.refused()[0]).toMatchObject({ id: "evt_1500", because: "stale" });
  });

  it("stops a purge at its deadline, looking at the clock now and then", async () => {
    let monotonic = 0;
    const clock = { ...createFakeClock(), now: () => monotonic, monotonic: () => monotonic++ * 10 };
    const store = memoryStore({ clock });
    for (let n = 0; n < 250; n++) {
      await store.accept(await arrivalOf({ id: `evt_${n}`, windowS: 0.001 }), () => SUCCESS, limits());
    }
    monotonic += 1000;
    expect(await store.purge({ maxRows: 1000, deadlineMs: 5 })).toEqual({ removed: 100, more: true });
  });

  it("warns where it is used in production", () => {
    const signals: Signal[] = [];
    memoryStore({ environment: "production", observer: (signal) => void signals.push(signal) });
    expect(signals).toEqual([{ kind: "store_not_durable", store: "memoryStore" }]);
  });
});
