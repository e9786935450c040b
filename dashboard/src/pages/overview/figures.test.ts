import type { Series } from "posthorn/client";
import { describe, expect, it } from "vitest";
import { figuresOf, share } from "./figures.ts";

const none = { count: [0, 0], p50: [null, null], p90: [null, null], p99: [null, null] };
const zero = [0, 0];

const came = { in: zero, stored: zero, duplicate: zero, conflict: zero, rejected: zero };
const sent = { attempts: zero, delivered: zero, failed: zero, dead: zero, duration: none, lag: none };

const series = (part: object): Series => ({
  since: "",
  until: "",
  stepS: 60,
  times: ["", ""],
  total: { ...came, failedIn: zero, published: zero, ...sent, ...part },
  sources: [],
  endpoints: [],
  cut: false,
});

const shown = (part: object): readonly string[] =>
  figuresOf(series(part), "in the last hour", 3).map(({ value, unit }) => `${value} ${unit}`.trim());

describe("the five figures", () => {
  it("say nothing of what was not measured", () => {
    expect(shown({})).toEqual(["0 in the last hour", "0 in the last hour", "–", "–", "3"]);
  });

  it("show few as they are, and many by the minute", () => {
    expect(shown({ in: [2, 1], published: [0, 1] })[0]).toBe("4 in the last hour");
    expect(shown({ in: [1200, 1208] })[0]).toBe("1,204 /min");
  });

  it("never say that all has landed where one has failed", () => {
    expect(share(99_999, 100_000)).toBe("99.9");
    expect(share(5, 5)).toBe("100");
    expect(share(0, 0)).toBe("–");
    expect(shown({ delivered: [3, 0], failed: [1, 0] })[2]).toBe("75.0 %");
  });

  it("show the slowest step as the lag", () => {
    expect(shown({ lag: { ...none, p99: [84, null] } })[3]).toBe("84 ms");
    expect(shown({ lag: { ...none, p99: [84, 125_000] } })[3]).toBe("2 min 5 s");
  });
});
