import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LateConnections } from "./late-connections.js";

let ended: number[];
let late: LateConnections;
beforeEach(() => {
  vi.useFakeTimers();
  ended = [];
  late = new LateConnections((socket) => ended.push((socket as unknown as { number: number }).number));
});
afterEach(() => vi.useRealTimers());

function add(from: number, count: number): void {
  for (let number = from; number < from + count; number++) late.add({ number } as unknown as Socket);
}

describe("connections whose time is over", () => {
  it("are ended at once where there is one", () => {
    add(0, 1);
    expect(ended).toEqual([0]);
  });

  it("are ended a few at a time, first come first, where there are many", () => {
    add(0, 1000);
    expect(ended).toEqual([0]);
    let most = 0;
    for (let step = 0; step < 800; step++) {
      const before = ended.length;
      vi.advanceTimersByTime(10);
      most = Math.max(most, ended.length - before);
    }
    expect(most).toBe(3);
    expect(ended).toEqual(Array.from({ length: 1000 }, (_, number) => number));
    expect(vi.getTimerCount()).toBe(0);
  });

  it("are ended faster the more there are, so that they do not pile up", () => {
    add(0, 10_000);
    vi.advanceTimersByTime(1000);
    expect(ended.length).toBeGreaterThan(2000);
  });

  it("are all ended when the server closes, and at once from then on", () => {
    add(0, 100);
    late.close();
    expect(ended).toHaveLength(100);
    add(100, 2);
    expect(ended).toHaveLength(102);
    expect(vi.getTimerCount()).toBe(0);
  });
});
