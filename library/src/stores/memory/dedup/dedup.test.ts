import { afterEach, describe, expect, expectTypeOf, it, vi } from "vitest";
import type { Signal } from "../../../observer.js";
import { createFakeClock } from "../../../testing/fake-clock.js";
import { memoryDedup } from "./dedup.js";
import type { MemoryDedupOptions } from "./dedup.js";
import { RememberedIds } from "./remembered-ids.js";

function watched(maxEntries: number, options: Partial<MemoryDedupOptions> = {}) {
  const signals: Signal[] = [];
  const clock = createFakeClock();
  const observer = (signal: Signal): void => void signals.push(signal);
  const adapter = memoryDedup({ maxEntries, clock, observer, ...options });
  return { adapter, clock, signals };
}

describe("memoryDedup", () => {
  it("forgets the oldest when it is full, and says so", async () => {
    const { adapter, signals } = watched(2);
    for (const id of ["a", "b", "c"]) await adapter.record(id, 60);
    expect(signals).toEqual([{ kind: "dedup_evicted", store: "memory", maxEntries: 2, remainingMs: 60_000 }]);
    expect(await adapter.record("b", 60)).toEqual({ duplicate: true });
    expect(await adapter.record("a", 60)).toEqual({ duplicate: false });
  });

  it("says nothing of an id whose time was over anyway", async () => {
    const { adapter, clock, signals } = watched(2);
    for (const id of ["a", "b"]) await adapter.record(id, 60);
    await clock.advance(60_000);
    for (const id of ["c", "d"]) await adapter.record(id, 60);
    expect(signals).toEqual([]);
  });

  it("makes room among the expired before it forgets one that is still needed", async () => {
    const { adapter, clock, signals } = watched(10);
    await adapter.record("oldest", 3600);
    for (let n = 0; n < 9; n++) await adapter.record(`short ${n}`, 1);
    await clock.advance(1000);
    for (let n = 0; n < 9; n++) await adapter.record(`new ${n}`, 3600);
    expect(signals).toEqual([]);
    expect(await adapter.record("oldest", 3600)).toEqual({ duplicate: true });
  });

  it("takes an id that won again for the newest", async () => {
    const { adapter, clock } = watched(2);
    await adapter.record("a", 1);
    await adapter.record("b", 60);
    await clock.advance(1000);
    await adapter.record("a", 60);
    await adapter.record("c", 60);
    expect(await adapter.record("a", 60)).toEqual({ duplicate: true });
    expect(await adapter.record("b", 60)).toEqual({ duplicate: false });
  });

  it("does not forget when the wall clock jumps", async () => {
    const { adapter, clock } = watched(10);
    await adapter.record("a", 60);
    clock.set(clock.now() + 365 * 86_400_000);
    expect(await adapter.record("a", 60)).toEqual({ duplicate: true });
  });

  it("takes no longer per call when it is full of a hundred thousand", async () => {
    const { adapter } = watched(100_000);
    const time = async (from: number): Promise<number> => {
      const before = process.cpuUsage();
      for (let n = from; n < from + 20_000; n++) await adapter.record(`evt_${n}`, 60);
      // Not by the clock on the wall: others may have the processor.
      return process.cpuUsage(before).user / 1000;
    };
    const empty = await time(0);
    for (let from = 20_000; from < 240_000; from += 20_000) await time(from);
    // A Map's first entry behind 100,000 deleted ones costs a hundred times as much; 10 leaves room for a busy machine.
    expect(await time(240_000)).toBeLessThan(10 * empty + 50);
  });

  it("warns where it is used in production", () => {
    expect(watched(1, { environment: "production" }).signals).toEqual([
      { kind: "store_not_durable", store: "memoryDedup" },
    ]);
    expect(watched(1, { environment: "development" }).signals).toEqual([]);
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 24])(
    "refuses to hold up to %d entries",
    (maxEntries) => {
      expect(() => memoryDedup({ maxEntries })).toThrow(
        `maxEntries is ${maxEntries}; expected a whole number from 1 to 16777215`,
      );
    },
  );

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("refuses a ttl of %d", async (ttl) => {
    const recording = watched(1).adapter.record("a", ttl);
    await expect(recording).rejects.toMatchObject({ code: "inbox_option_invalid" });
  });

  it("says with its type that it cannot share the host's transaction", () => {
    expectTypeOf(watched(1).adapter.sharesHostTransaction).toEqualTypeOf<false>();
  });
});

describe("the warning of the memory stores", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });

  it("is printed where nobody observes, by NODE_ENV", () => {
    const print = vi.spyOn(console, "warn").mockReturnValue();
    vi.stubEnv("NODE_ENV", "production");
    memoryDedup({ maxEntries: 1 });
    expect(print).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining("memoryDedup is used in production"),
    );
  });

  it.each([
    ["has no process", undefined],
    ["has no environment", {}],
  ])("is not given in a runtime that %s", (_what, fake) => {
    const print = vi.spyOn(console, "warn").mockReturnValue();
    vi.stubGlobal("process", fake);
    memoryDedup({ maxEntries: 1 });
    expect(print).not.toHaveBeenCalled();
  });

  it("is not given in a runtime that forbids to look", () => {
    const print = vi.spyOn(console, "warn").mockReturnValue();
    vi.stubGlobal("process", {
      get env(): never {
        throw new Error("NotCapable: requires env access");
      },
    });
    memoryDedup({ maxEntries: 1 });
    expect(print).not.toHaveBeenCalled();
  });
});

describe("remembered ids", () => {
  it("are swept in turns that go round, also when the next one is gone by then", () => {
    const ids = new RememberedIds();
    for (const key of ["a", "b", "c"]) ids.add(key, key === "b" ? 100 : 10);
    ids.sweep(5, 1);
    ids.add("b", 100);
    ids.sweep(10, 1);
    expect([ids.expiryOf("c"), ids.size]).toEqual([undefined, 2]);
    ids.sweep(10, 2);
    expect([ids.expiryOf("a"), ids.size]).toEqual([undefined, 1]);
    ids.sweep(100, 5);
    expect([ids.evictOldest(), ids.size]).toEqual([undefined, 0]);
  });
});
