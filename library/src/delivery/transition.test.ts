import { describe, expect, it } from "vitest";
import type { Outcome } from "./outcome.js";
import { transition } from "./transition.js";

const here = { waitMs: 4000, policy: "halt" } as const;
const last = { waitMs: undefined, policy: "skip" } as const;

function refused(status: number, retryAfterMs?: number): Outcome {
  return { kind: "refused", status, retryAfterMs };
}

describe("a delivery after an attempt", () => {
  it("is delivered when the attempt was acknowledged, whatever its policy allows", () => {
    expect(transition({ kind: "acknowledged", status: 204 }, here)).toBe("delivered");
    expect(transition({ kind: "acknowledged", status: 200 }, last)).toBe("delivered");
  });

  it.each([301, 400, 401, 403, 404, 405, 408, 409, 422, 425, 429, 500, 502, 503, 599])(
    "is due again after %d",
    (status) => {
      expect(transition(refused(status), here)).toEqual({ state: "due", afterMs: 4000, counts: true });
    },
  );

  it.each([413, 414, 431])("is dead at once after %d, which no attempt can change", (status) => {
    expect(transition(refused(status), here)).toEqual({ state: "dead", because: "refused", policy: "halt" });
  });

  it("stays due after 410, and its endpoint is disabled", () => {
    expect(transition(refused(410), last)).toEqual({ state: "disabled", because: "it answered 410" });
  });

  it("is due when Retry-After says, between a second and a day", () => {
    expect(transition(refused(429, 90_000), here)).toMatchObject({ afterMs: 90_000 });
    expect(transition(refused(503, 0), here)).toMatchObject({ afterMs: 1000 });
    expect(transition(refused(503, 1e12), here)).toMatchObject({ afterMs: 86_400_000 });
  });

  it("is dead when its policy allows no further attempt, whatever Retry-After says", () => {
    const dead = { state: "dead", because: "exhausted", policy: "skip" };
    expect(transition(refused(503, 1000), last)).toEqual(dead);
    expect(transition({ kind: "unreachable", reason: "dns" }, last)).toEqual(dead);
    expect(transition({ kind: "unknown", reason: "timeout" }, last)).toEqual(dead);
  });

  it("is dead when nothing may be sent to its address, attempts left or not", () => {
    const outcome = { kind: "forbidden", reason: "private_address" } as const;
    expect(transition(outcome, here)).toEqual({ state: "dead", because: "forbidden", policy: "halt" });
  });
});
