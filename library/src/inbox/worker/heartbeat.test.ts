import { describe, expect, it } from "vitest";
import type { Claim } from "../../lanes/lane-store.js";
import { createFakeClock } from "../../testing/fake-clock.js";
import { Heartbeat } from "./heartbeat.js";

const LEASE_MS = 60_000;

function claimOf(id: bigint): Claim {
  return { kind: "lane", id, epoch: 5n } as Claim;
}

const isKept = (id: bigint): boolean => id > 0n;

const atOnce = (): Promise<void> => Promise.resolve();

function setUp() {
  const clock = createFakeClock();
  const asked: string[] = [];
  const lost: bigint[] = [];
  const failures: string[] = [];
  let answer = isKept;
  let takes = atOnce;
  const heartbeat = new Heartbeat({
    clock,
    leaseMs: LEASE_MS,
    failed: (operation) => void failures.push(operation),
    async extend(leases) {
      asked.push(`${clock.monotonic()}: ${leases.map(({ id }) => id).join(" ")}`);
      await takes();
      return leases.map(({ id }) => answer(id));
    },
  });
  const keep = (id: bigint) => heartbeat.keep(claimOf(id), () => lost.push(id));
  /** Keeps a lease that the store was asked for some time ago. */
  const keepLate = (id: bigint, sinceMs: number) => {
    const claim = claimOf(id);
    heartbeat.leased(claim, clock.monotonic() - sinceMs);
    return heartbeat.keep(claim, () => lost.push(id));
  };
  const answers = (given: (id: bigint) => boolean): void => void (answer = given);
  const takesSo = (given: () => Promise<void>): void => void (takes = given);
  return { clock, asked, lost, failures, keep, keepLate, answers, takesSo };
}

describe("a heartbeat", () => {
  it("keeps all leases by one statement, at a third of the lease, and asks nothing when none is left", async () => {
    const { clock, asked, lost, keep } = setUp();
    const letGo = [keep(1n), keep(2n)];
    await clock.advance(30_000);
    letGo.push(keep(3n));
    await clock.advance(20_000);
    expect(asked).toEqual(["20000: 1 2", "40000: 1 2 3"]);
    for (const each of letGo) each();
    await clock.advance(200_000);
    expect([asked.length, lost, clock.sleeping]).toEqual([2, [], 0]);
    keep(4n)();
    keep(5n);
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(20_000);
    expect(asked.slice(2)).toEqual(["270000: 5"]);
  });

  it("tells of the one lease that another has, and keeps the others", async () => {
    const { clock, asked, lost, keep, answers } = setUp();
    keep(1n);
    keep(2n);
    answers((id) => id !== 1n);
    await clock.advance(40_000);
    expect(lost).toEqual([1n]);
    expect(asked).toEqual(["20000: 1 2", "40000: 2"]);
  });

  it("that finds no store asks more often, and calls leases lost when they have ended by its own clock", async () => {
    const { clock, asked, lost, failures, keep, answers } = setUp();
    keep(1n);
    answers(() => {
      throw new Error("down");
    });
    await clock.advance(59_999);
    expect([lost, failures.length, asked.length]).toEqual([[], 8, 8]);
    await clock.advance(5000);
    expect(lost).toEqual([1n]);
  });

  it("calls a lease lost no more that was let go while the store was asked", async () => {
    const { clock, lost, keep, answers } = setUp();
    const letGo = keep(1n);
    answers(() => {
      letGo();
      return false;
    });
    await clock.advance(20_000);
    expect(lost).toEqual([]);
  });

  it("calls a lease lost when it has ended by its own clock, while a question that will fail is under way", async () => {
    const { clock, lost, keep, takesSo } = setUp();
    keep(1n);
    takesSo(async () => {
      await clock.sleep(15_000);
      throw new Error("silent");
    });
    await clock.advance(59_999);
    expect(lost).toEqual([]);
    await clock.advance(1);
    expect(lost).toEqual([1n]);
  });

  it("calls a lease lost in time where the store never answers, asks again meanwhile, and tells it", async () => {
    const { clock, asked, lost, failures, keep, takesSo } = setUp();
    keep(1n);
    takesSo(() => new Promise(() => undefined));
    await clock.advance(59_999);
    expect([lost, asked, failures]).toEqual([[], ["20000: 1", "45000: 1"], ["extend"]]);
    await clock.advance(1);
    expect(lost).toEqual([1n]);
    await clock.advance(60_000);
    expect(clock.sleeping).toBe(0);
  });

  it("keeps a lease whose question is answered late, but before its end", async () => {
    const { clock, lost, keep, takesSo } = setUp();
    const letGo = keep(1n);
    let late = 30_000;
    takesSo(async () => {
      await clock.sleep(late);
      late = 0;
    });
    await clock.advance(300_000);
    expect(lost).toEqual([]);
    letGo();
    expect(clock.sleeping).toBe(0);
  });

  it("counts a lease from before its store was asked for it, and extends one of some age at once", async () => {
    const { clock, asked, lost, keepLate, takesSo } = setUp();
    const letGo = keepLate(1n, 30_000);
    await clock.advance(0);
    expect(asked).toEqual(["0: 1"]);
    letGo();
    takesSo(() => new Promise(() => undefined));
    keepLate(2n, 50_000);
    await clock.advance(10_000);
    expect(lost).toEqual([2n]);
  });

  it("loses a lease that has ended before it was kept, asks nothing for it, and leaves no timer", async () => {
    const { clock, asked, lost, keepLate } = setUp();
    keepLate(1n, 60_000);
    expect(lost).toEqual([1n]);
    await clock.advance(0);
    expect([asked, clock.sleeping]).toEqual([[], 0]);
  });
});
