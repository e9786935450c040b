import { describe, expect, it } from "vitest";
import { registered, VERSION_COUNTS_MS } from "./handler-consumer.js";
import type { HandlerConsumer, RegisteredHandler } from "./handler-consumer.js";

const WANTED: HandlerConsumer = {
  id: "hnd_billing",
  sources: ["stripe"],
  types: ["invoice.paid"],
  order: "key",
  dead: undefined,
};

type Words = Partial<Omit<HandlerConsumer, "id">>;

function after(before: RegisteredHandler | undefined, words: Words, nowMs: number): RegisteredHandler {
  const next = registered(before, { ...WANTED, ...words }, nowMs) ?? before;
  // As it comes back from a database.
  return JSON.parse(JSON.stringify(next)) as RegisteredHandler;
}

function afterAll(said: readonly (readonly [number, Words])[]): RegisteredHandler | undefined {
  return said.reduce<RegisteredHandler | undefined>(
    (before, [nowMs, words]) => after(before, words, nowMs),
    undefined,
  );
}

describe("the registration of a handler", () => {
  it("changes nothing where the same words were said a short while ago", () => {
    const first = registered(undefined, WANTED, 1000);
    expect(first).toMatchObject({ kind: "handler", state: "active", version: 1 });
    expect(registered(first, { ...WANTED }, 2000)).toBeUndefined();
    expect(registered(after(undefined, {}, 1000), WANTED, 2000)).toBeUndefined();
  });

  it("counts the same words as one version, in whatever order its sources and types are", () => {
    const first = after(undefined, { sources: ["shop", "pay"], types: ["b", "a"] }, 0);
    expect(registered(first, { ...WANTED, sources: ["pay", "shop"], types: ["a", "b"] }, 1)).toBeUndefined();
  });

  it("is said again before its word ends, so that a process that runs for days keeps it", () => {
    const again = registered(after(undefined, {}, 0), WANTED, VERSION_COUNTS_MS - 1);
    expect(again?.versions.map(({ at }) => at)).toEqual([VERSION_COUNTS_MS - 1]);
  });

  it("keeps what other versions handle for an hour, and no longer", () => {
    const both = afterAll([
      [0, { types: ["a"] }],
      [1000, { types: ["b"] }],
    ]);
    expect(both?.versions.map(({ types }) => types)).toEqual([["b"], ["a"]]);
    const later = after(both, { types: ["c"] }, VERSION_COUNTS_MS + 500);
    expect(later.versions.map(({ types }) => types)).toEqual([["c"], ["b"]]);
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
    expect(registered(paused, { ...WANTED, types: ["*"] }, 1)).toMatchObject({
      state: "paused",
      because: "the bank is down",
      pausedUntil,
      version: 2,
    });
  });
});

describe("versions of the host that register a handler in other words", () => {
  const OLD = { sources: ["shop"] };
  const NEW = { sources: ["pay", "shop"] };

  it("count together: a version that says its words again takes no source from another", () => {
    const both = afterAll([
      [0, OLD],
      [1000, NEW],
    ]);
    expect(both?.sources.toSorted()).toEqual(["pay", "shop"]);
    expect(registered(both, { ...WANTED, ...OLD }, 2000)).toBeUndefined();
    expect(registered(both, { ...WANTED, ...NEW }, 3000)).toBeUndefined();
  });

  it("refresh their own time alone, and become no newer by that", () => {
    const later = VERSION_COUNTS_MS - 2000;
    const both = afterAll([
      [0, OLD],
      [1000, NEW],
      [later, OLD],
    ]);
    expect(both?.versions.map(({ sources, at }) => [sources, at])).toEqual([
      [NEW.sources, 1000],
      [OLD.sources, later],
    ]);
  });

  it("lose the sources of what was replaced, an hour after it was last said, by any word", () => {
    const both = afterAll([
      [0, NEW],
      [1000, OLD],
      [VERSION_COUNTS_MS - 1, OLD],
    ]);
    expect(both?.sources.toSorted()).toEqual(["pay", "shop"]);
    // What the other says is known and young; that the first is over is a change.
    expect(after(both, OLD, VERSION_COUNTS_MS)).toMatchObject({ sources: ["shop"], version: 4 });
  });

  it("keep the last words, however old: nothing is unregistered by itself", () => {
    const old = after(undefined, NEW, 0);
    const again = after(old, NEW, 100 * VERSION_COUNTS_MS);
    expect(again.sources).toEqual(NEW.sources);
  });

  it.each([
    [["key", "none"], "key"],
    [["none", "key"], "key"],
    [["none", "none"], "none"],
  ] as const)("in the order of %o have what is in order by: %s", (orders, expected) => {
    const said = orders.map((order, nth) => [nth, { order, types: [`${nth}`] }] as const);
    expect(afterAll(said)?.order).toBe(expected);
  });

  it.each([
    [["skip", "halt"], "halt"],
    [["halt", "skip"], "halt"],
    [[undefined, "park"], undefined],
    [["skip", undefined], undefined],
    [["skip", "park"], "park"],
    [["skip", "skip"], "skip"],
  ] as const)("of the dead policies %o do what holds back most: %s", (policies, expected) => {
    const said = policies.map((dead, nth) => [nth, { dead, types: [`${nth}`] }] as const);
    expect(afterAll(said)?.dead).toBe(expected);
  });
});
