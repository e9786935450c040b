import { describe, expect, it } from "vitest";
import { carry, MOST_UNSETTLED, parseProgress, progressText } from "./progress.js";

const AT = Date.parse("2026-11-15T12:00:00Z");
const some = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => ({ id: `id-${from + n}`, atMs: AT + n }));

describe("what a repair remembers between two runs", () => {
  it("is read as it was written, whatever the ids are", () => {
    const progress = { cursorMs: AT, unsettled: [{ id: 'a "b" \u0000 \ud800', atMs: AT - 1 }, ...some(2)] };
    expect(parseProgress(progressText(progress))).toEqual(progress);
  });

  it.each([
    undefined,
    "",
    "null",
    "2026-11-15T12:00:00.000Z",
    "{}",
    '{"cursor":"x","unsettled":[]}',
    '{"cursor":"2026-11-15T12:00:00.000Z","unsettled":[[1,"2026-11-15T12:00:00.000Z"]]}',
  ])("counts as none where it cannot be read: %j", (text) => {
    expect(parseProgress(text)).toBeUndefined();
  });

  it("has room for every earlier failure, and holds the window before the later one that finds none", () => {
    const earlier = some(MOST_UNSETTLED - 2);
    expect(carry(earlier, some(2, 5000))).toEqual({
      unsettled: [...earlier, ...some(2, 5000)],
      heldMs: undefined,
    });
    expect(carry(earlier, some(4, 5000))).toEqual({
      unsettled: [...earlier, ...some(2, 5000)],
      heldMs: AT + 2,
    });
    expect(carry(some(MOST_UNSETTLED), some(1, 5000)).heldMs).toBe(AT);
  });
});
