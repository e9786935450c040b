import { describe, expect, it } from "vitest";
import type { Arrival } from "./inbox-store.js";
import { Touches } from "./touches.js";

const arrival = (id: string, source = "stripe"): Arrival => ({
  tenant: "default",
  source,
  id,
  idPreview: undefined,
  type: "t",
  eventAt: undefined,
  body: new Uint8Array(),
  bodyHash: new Uint8Array(32),
  headers: "{}",
  windowS: 86_400,
});

describe("Touches", () => {
  it("notes an event once a minute, whatever its sender does", () => {
    const touches = new Touches();
    const noted = [0, 1, 30_000, 59_999, 60_000, 60_001].filter((at) => touches.add(arrival("a"), at));
    expect(noted).toEqual([0, 60_000]);
    expect(touches.take(10).map(({ atMs }) => atMs)).toEqual([0, 60_000]);
    expect(touches.size).toBe(0);
  });

  it("tells events of one id from two sources apart", () => {
    const touches = new Touches();
    expect([touches.add(arrival("a"), 0), touches.add(arrival("a", "github"), 0)]).toEqual([true, true]);
  });

  it("still notes an event after the clock was set back", () => {
    const touches = new Touches();
    touches.add(arrival("a"), 10 * 3600_000);
    expect(touches.add(arrival("a"), 0)).toBe(true);
  });

  it("hands over the oldest first, and takes back what could not be written", () => {
    const touches = new Touches();
    for (const [at, id] of ["a", "b", "c"].entries()) touches.add(arrival(id), at);
    const taken = touches.take(2);
    touches.putBack(taken);
    expect(touches.take(9).map(({ id }) => id)).toEqual(["a", "b", "c"]);
  });

  it("a window under two minutes is touched at half a window", () => {
    const touches = new Touches();
    const short = { ...arrival("a"), windowS: 10 };
    expect([0, 4999, 5000, 9999, 10_000].filter((at) => touches.add(short, at))).toEqual([0, 5000, 10_000]);
  });

  it("holds no more than ten thousand, however many events are repeated", () => {
    const touches = new Touches();
    for (let n = 0; n < 10_050; n++) touches.add(arrival(`evt_${n}`), 0);
    expect(touches.size).toBe(10_000);
    touches.take(20_000);
    // The oldest half is forgotten, so that its events may be noted again; the last is still known.
    expect(touches.add(arrival("evt_0"), 1)).toBe(true);
    expect(touches.add(arrival("evt_10049"), 1)).toBe(false);
  });
});
