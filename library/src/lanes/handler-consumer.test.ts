import { describe, expect, it } from "vitest";
import { DEFAULT_RETRY } from "../work/retry-policy.js";
import { registered, VERSION_COUNTS_MS } from "./handler-consumer.js";
import type { HandlerConsumer, RegisteredHandler } from "./handler-consumer.js";

const WANTED: HandlerConsumer = {
  id: "hnd_billing",
  sources: ["stripe"],
  types: ["invoice.paid"],
  order: "key",
  retry: DEFAULT_RETRY,
  dead: undefined,
  maxInFlight: 8,
};

function after(before: RegisteredHandler | undefined, wanted: HandlerConsumer, nowMs: number) {
  return registered(before, wanted, nowMs) ?? before;
}

describe("the registration of a handler", () => {
  it("changes nothing where the same words were said a short while ago", () => {
    const first = registered(undefined, WANTED, 1000);
    expect(first).toMatchObject({ kind: "handler", state: "active", version: 1 });
    expect(registered(first, { ...WANTED }, 2000)).toBeUndefined();
    const readBack = JSON.parse(JSON.stringify(first)) as RegisteredHandler;
    expect(registered(readBack, WANTED, 2000)).toBeUndefined();
  });

  it("is said again before its word ends, so that a process that runs for days keeps it", () => {
    const first = registered(undefined, WANTED, 0);
    const again = registered(first, WANTED, VERSION_COUNTS_MS - 1);
    expect(again?.versions).toEqual([{ types: ["invoice.paid"], at: VERSION_COUNTS_MS - 1 }]);
  });

  it("keeps what other versions handle for an hour, and no longer", () => {
    const old = after(undefined, { ...WANTED, types: ["a"] }, 0);
    const both = after(old, { ...WANTED, types: ["b"] }, 1000);
    expect(both?.versions.map(({ types }) => types)).toEqual([["b"], ["a"]]);
    const later = after(both, { ...WANTED, types: ["c"] }, VERSION_COUNTS_MS + 500);
    expect(later?.versions.map(({ types }) => types)).toEqual([["c"], ["b"]]);
  });

  it("leaves a paused handler paused, with its reason", () => {
    const first = registered(undefined, WANTED, 0) as RegisteredHandler;
    const pausedUntil = new Date(60_000);
    const paused: RegisteredHandler = {
      ...first,
      state: "paused",
      because: "the bank is down",
      pausedUntil,
    };
    expect(registered(paused, { ...WANTED, maxInFlight: 2 }, 1)).toMatchObject({
      state: "paused",
      because: "the bank is down",
      pausedUntil,
      maxInFlight: 2,
      version: 2,
    });
  });
});
