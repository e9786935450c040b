import { describe, expect, it } from "vitest";
import { Paces } from "./paces.js";

/** Attempts of one endpoint: when each begins, and how long it takes; undefined while it is under way. */
function pacesAfter(attempts: readonly (readonly [at: number, tookMs: number | undefined])[]): Paces {
  const paces = new Paces();
  for (const [at, tookMs] of attempts) {
    const begun = paces.begin("ep", at);
    if (tookMs !== undefined) paces.end(begun, at + tookMs);
  }
  return paces;
}

const many = (count: number, tookMs: number | undefined, at = 0) =>
  Array.from({ length: count }, () => [at, tookMs] as const);

describe("an endpoint", () => {
  it("is quick when its last ten attempts took under a second on average", () => {
    expect(pacesAfter(many(10, 999)).isQuick("ep", 999)).toBe(true);
    expect(pacesAfter(many(10, 1000)).isQuick("ep", 1000)).toBe(false);
    expect(pacesAfter([...many(9, 100), [0, 9000]]).isQuick("ep", 9000)).toBe(true);
    expect(pacesAfter([...many(9, 100), [0, 9100]]).isQuick("ep", 9100)).toBe(false);
  });

  it("is not quick before ten of its attempts have ended", () => {
    expect(pacesAfter(many(9, 1)).isQuick("ep", 1)).toBe(false);
    expect(pacesAfter([...many(9, 1), ...many(50, undefined)]).isQuick("ep", 1)).toBe(false);
    expect(new Paces().isQuick("unknown", 0)).toBe(false);
  });

  it("is judged by the ten that began last, whenever they ended", () => {
    expect(pacesAfter([...many(30, 15_000), ...many(10, 5, 20_000)]).isQuick("ep", 20_005)).toBe(true);
    const late = new Paces();
    const hung = late.begin("ep", 0);
    for (let n = 0; n < 10; n++) late.end(late.begin("ep", 1), 2);
    late.end(hung, 15_000);
    expect(late.isQuick("ep", 15_000)).toBe(true);
  });

  it("that hangs is slow as soon as its attempts under way are a second old", () => {
    const paces = pacesAfter([...many(10, 5), ...many(64, undefined, 100)]);
    expect(paces.isQuick("ep", 1099)).toBe(true);
    expect(paces.isQuick("ep", 1100)).toBe(false);
  });

  it("that hangs does not look quick when ten of its attempts have just begun", () => {
    const paces = pacesAfter([...many(10, 15_000), ...many(10, undefined, 15_000)]);
    expect(paces.isQuick("ep", 15_001)).toBe(false);
  });

  it("stays quick beside one attempt that hangs", () => {
    const paces = pacesAfter([[0, undefined], ...many(10, 5, 10)]);
    expect(paces.isQuick("ep", 14_000)).toBe(true);
  });

  it("is forgotten when a thousand others were used since", () => {
    const paces = pacesAfter(many(10, 5));
    for (let n = 0; n < 999; n++) paces.end(paces.begin(`other ${n}`, 10), 11);
    expect(paces.quick(20)).toEqual(["ep"]);
    paces.end(paces.begin("one more", 20), 21);
    expect(paces.quick(30)).toEqual([]);
  });
});
