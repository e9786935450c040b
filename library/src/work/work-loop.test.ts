import { describe, expect, it } from "vitest";
import { createFakeClock } from "../testing/fake-clock.js";
import { WorkLoop } from "./work-loop.js";
import type { WorkPort } from "./work-loop.js";

interface Piece {
  readonly name: string;
}

/** Work that is written down as it is done; `due` is what the next claims find. */
function recorded(due: Piece[], changes: Partial<WorkPort<Piece, Piece>> = {}) {
  const log: string[] = [];
  const work: WorkPort<Piece, Piece> = {
    claim({ limit, alone }) {
      const claims = due.splice(0, limit);
      log.push(`${alone ? "claim alone" : "claim"} ${claims.map(({ name }) => name).join(" ")}`.trim());
      return Promise.resolve({ claims, lapsed: false, more: claims.length >= limit });
    },
    run: (piece) => Promise.resolve(piece),
    settle(results) {
      log.push(`settle ${results.map(({ name }) => name).join(" ")}`);
      return Promise.resolve(results.map(() => undefined));
    },
    release(held) {
      log.push(`release all but ${held.length}`);
      return Promise.resolve();
    },
    untilDue: () => Promise.resolve(undefined),
    failed: (operation) => log.push(`${operation} failed`),
    ...changes,
  };
  const clock = createFakeClock();
  const loop = new WorkLoop(work, { slots: 2, pollMs: 1000, settleBatch: 10, longMs: 5000 }, clock);
  return { log, loop, clock };
}

const pieces = (...names: string[]): Piece[] => names.map((name) => ({ name }));

describe("a work loop", () => {
  it("never has more under way than it has slots, and ends when nothing is due", async () => {
    const { log, loop } = recorded(pieces("a", "b", "c"));
    await loop.run({ once: true });
    expect(log).toEqual(["claim a b", "settle a b", "claim c", "settle c", "claim", "release all but 0"]);
  });

  it("runs what a settlement returns without another claim", async () => {
    const nexts = pieces("a2", "a3");
    const { log, loop } = recorded(pieces("a"), {
      settle(results, { next }) {
        log.push(`settle ${results.map(({ name }) => name).join(" ")}${next ? " and go on" : ""}`);
        return Promise.resolve([nexts.shift()]);
      },
    });
    await loop.run({ once: true });
    expect(log).toEqual([
      "claim a",
      "settle a and go on",
      "settle a2 and go on",
      "settle a3 and go on",
      "claim",
      "release all but 0",
    ]);
  });

  it("lets everything finish before it claims what must run alone, and claims nothing beside that", async () => {
    let first = true;
    const alone = pieces("poison");
    const due = pieces("b");
    const { log, loop } = recorded(due, {
      claim({ alone: asked }) {
        const claims = asked ? alone.splice(0) : due.splice(0);
        log.push(`${asked ? "claim alone" : "claim"} ${claims.map(({ name }) => name).join(" ")}`.trim());
        const lapsed = first;
        first = false;
        return Promise.resolve({ claims, lapsed, more: false });
      },
    });
    await loop.run({ once: true });
    expect(log).toEqual([
      "claim b",
      "settle b",
      "claim alone poison",
      "settle poison",
      "claim",
      "release all but 0",
    ]);
  });

  it("claims as soon as one slot is free", async () => {
    const { log, loop, clock } = recorded(pieces("hangs", "b", "c", "d"), {
      run: async (piece) => {
        if (piece.name === "hangs") await clock.sleep(10_000);
        return piece;
      },
    });
    const run = loop.run({ once: true });
    for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve));
    expect(log).toEqual(["claim hangs b", "settle b", "claim c", "settle c", "claim d", "settle d", "claim"]);
    await clock.until(run, 1000);
  });

  it("claims each time that it is time to poll, though a lane that never ends keeps it awake", async () => {
    const due = pieces("busy");
    const { log, loop, clock } = recorded(due, {
      run: async (piece) => {
        await clock.sleep(10);
        return piece;
      },
      settle: (results) =>
        Promise.resolve(
          results.map(({ name }) => (name === "busy" && !log.includes("claim other") ? { name } : undefined)),
        ),
    });
    const run = loop.run();
    await clock.advance(500);
    // Another process has published it: nobody says so here.
    due.push(...pieces("other"));
    for (let ms = 0; ms < 1100; ms += 10) await clock.advance(10);
    expect(log).toEqual(expect.arrayContaining(["claim busy", "claim other"]));
    loop.stop();
    await clock.until(run, 1000);
  });

  it("waits for nothing that is long before something runs alone, and lets nothing else run alone beside what is long itself", async () => {
    const ends = new Map<string, () => void>();
    const alone = pieces("lapsed 1", "lapsed 2");
    const due = pieces("long");
    const { log, loop, clock } = recorded(due, {
      claim({ alone: asked }) {
        const claims = asked ? alone.splice(0, 1) : due.splice(0, 1);
        if (claims.length > 0) log.push(`${asked ? "claim alone" : "claim"} ${claims[0]?.name}`);
        return Promise.resolve({ claims, lapsed: alone.length > 0, more: false });
      },
      run: (piece) => new Promise((resolve) => ends.set(piece.name, () => resolve(piece))),
      untilDue: () => Promise.resolve(0),
    });
    const running = loop.run();
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(4000);
    expect(log).toEqual(["claim long"]);
    await clock.advance(2000);
    expect(log).toEqual(["claim long", "claim alone lapsed 1"]);
    await clock.advance(60_000);
    due.push(...pieces("short"));
    ends.get("long")?.();
    await clock.advance(60_000);
    expect(log.slice(2)).toEqual(["settle long", "claim short"]);
    ends.get("lapsed 1")?.();
    ends.get("short")?.();
    await clock.advance(600_000);
    expect(log.at(-1)).toBe("claim alone lapsed 2");
    ends.get("lapsed 2")?.();
    loop.stop();
    await clock.until(running);
  });

  it("runs alone for a tenth of its time: others are claimed nine times as long before the next one", async () => {
    const alone = pieces("poison 1", "poison 2");
    const starts: [string, number][] = [];
    const { loop, clock } = recorded([], {
      claim: ({ alone: asked }) => {
        const claims = asked ? alone.splice(0, 1) : pieces("other");
        return Promise.resolve({ claims, lapsed: alone.length > 0, more: false });
      },
      run: async (piece) => {
        starts.push([piece.name, clock.monotonic()]);
        await clock.sleep(piece.name === "other" ? 100 : 1000);
        return piece;
      },
    });
    const run = loop.run();
    const until = async (name: string): Promise<number> => {
      for (;;) {
        const found = starts.find(([each]) => each === name);
        if (found !== undefined) return found[1];
        await clock.advance(10);
      }
    };
    const first = await until("poison 1");
    const second = await until("poison 2");
    expect(second - first).toBeGreaterThanOrEqual(1000 + 9 * 1000);
    const between = starts.filter(([name, at]) => name === "other" && at > first && at < second);
    expect(between.length).toBeGreaterThanOrEqual(80);
    loop.stop();
    await clock.until(run, 100);
  });

  it("runs everything that must run alone before it ends, where nothing else is due", async () => {
    const alone = pieces("poison 1", "poison 2");
    const { log, loop, clock } = recorded([], {
      claim: ({ alone: asked }) =>
        Promise.resolve({ claims: asked ? alone.splice(0, 1) : [], lapsed: alone.length > 0, more: false }),
      run: async (piece) => {
        await clock.sleep(1000);
        return piece;
      },
    });
    await clock.until(loop.run({ once: true }), 100);
    expect(log).toEqual(["settle poison 1", "settle poison 2", "release all but 0"]);
  });

  it("settles again what a broken store did not take, and then gives back what the lost answer may have leased", async () => {
    let broken = 2;
    const { log, loop, clock } = recorded(pieces("a"), {
      settle(results) {
        if (broken-- > 0) return Promise.reject(new Error("down"));
        log.push(`settle ${results.map(({ name }) => name).join(" ")}`);
        return Promise.resolve([undefined]);
      },
    });
    await clock.until(loop.run({ once: true }));
    expect(log.slice(0, 4)).toEqual(["claim a", "settle failed", "settle failed", "settle a"]);
    expect(log).toContain("release all but 0");
  });

  it("finishes what is under way when it is stopped, and asks for nothing more", async () => {
    const { log, loop, clock } = recorded(pieces("a", "b", "c"), {
      run: async (piece) => {
        await clock.sleep(100);
        return piece;
      },
      settle(results, { next }) {
        log.push(`settle ${results.map(({ name }) => name).join(" ")}${next ? " and go on" : ""}`);
        return Promise.resolve(results.map(() => undefined));
      },
    });
    const run = loop.run();
    await new Promise((resolve) => setImmediate(resolve));
    loop.stop();
    await clock.until(run);
    expect(log[0]).toBe("claim a b");
    // One after the other, or both at once.
    expect(log.slice(1, -1).join(" ")).toMatch(/^settle a (settle )?b$/);
    expect(log.at(-1)).toBe("release all but 0");
  });

  it("sleeps until something is due, and no longer than it polls", async () => {
    const due: Piece[] = [];
    const waits = [300, undefined, undefined];
    const { log, loop, clock } = recorded(due, { untilDue: () => Promise.resolve(waits.shift()) });
    const claims: number[] = [];
    const run = loop.run();
    for (let n = 0; n < 300; n++) {
      if (log.length > claims.length) claims.push(clock.monotonic());
      await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(10);
    }
    loop.stop();
    await clock.until(run);
    expect(claims.slice(0, 3).map((ms) => Math.round(ms / 100) * 100)).toEqual([0, 300, 1300]);
  });
});
