import { describe, expect, it } from "vitest";
import type { Claim } from "../../lanes/lane-store.js";
import { createFakeClock } from "../../testing/fake-clock.js";
import { Heartbeat } from "./heartbeat.js";

const LEASE_MS = 60_000;

function claimOf(id: bigint): Claim {
  return { kind: "lane", id, epoch: 5n } as Claim;
}

const isKept = (id: bigint): boolean => id > 0n;

function setUp() {
  const clock = createFakeClock();
  const asked: string[] = [];
  const lost: bigint[] = [];
  const failures: string[] = [];
  let answer = isKept;
  const heartbeat = new Heartbeat({
    clock,
    leaseMs: LEASE_MS,
    failed: (operation) => void failures.push(operation),
    extend(leases) {
      asked.push(`${clock.monotonic()}: ${leases.map(({ id }) => id).join(" ")}`);
      return new Promise((resolve) => resolve(leases.map(({ id }) => answer(id))));
    },
  });
  const keep = (id: bigint) => heartbeat.keep(claimOf(id), () => lost.push(id));
  const answers = (given: (id: bigint) => boolean): void => void (answer = given);
  return { clock, asked, lost, failures, keep, answers };
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
});
