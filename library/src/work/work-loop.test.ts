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
      return Promise.resolve({ claims, lapsed: false });
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
  const loop = new WorkLoop(work, { slots: 2, pollMs: 1000, settleBatch: 10 }, clock);
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
      settle(results, next) {
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
        return Promise.resolve({ claims, lapsed });
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
      settle(results, next) {
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
