import { describe, expect, it } from "vitest";
import { Drains } from "./drains.js";

function nothing(): void {}

/** A run that is drained until it is stopped. */
function createRun() {
  let stopped = 0;
  let end = nothing;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const run = {
    stop: (): void => void stopped++,
    /** The last handler has returned. */
    end: (): void => end(),
    drain: async (): Promise<string> => {
      await ended;
      return stopped > 0 ? "stopped" : "done";
    },
  };
  return { run, stops: () => stopped };
}

describe("a stop", () => {
  it("stops each drain that is under way, also one that only begins, and waits for its end", async () => {
    const drains = new Drains<ReturnType<typeof createRun>["run"]>();
    const [begun, beginning] = [createRun(), createRun()];
    let begin = nothing;
    const later = new Promise<typeof beginning.run>((resolve) => (begin = () => resolve(beginning.run)));
    const drained = [
      drains.of(Promise.resolve(begun.run), (run) => run.drain()),
      drains.of(later, (run) => run.drain()),
    ];
    let isStopped = false;
    const stop = drains.stop().then(() => (isStopped = true));
    begun.run.end();
    expect(await drained[0]).toBe("stopped");
    expect(isStopped).toBe(false);
    begin();
    await later;
    beginning.run.end();
    expect(await drained[1]).toBe("stopped");
    await stop;
    expect([begun.stops(), beginning.stops()]).toEqual([1, 1]);
  });

  it("has nothing to wait for when drains have ended, and hides no failure from who drains", async () => {
    const drains = new Drains<ReturnType<typeof createRun>["run"]>();
    const { run, stops } = createRun();
    run.end();
    expect(await drains.of(Promise.resolve(run), (each) => each.drain())).toBe("done");
    const failed = drains.of(Promise.reject(new Error("no database")), (each) => each.drain());
    await drains.stop();
    await expect(failed).rejects.toThrow("no database");
    expect(stops()).toBe(0);
  });
});
