import { printViolations } from "posthorn/testing";
import type { HistoryReport } from "posthorn/testing";
import { afterAll, describe, expect, it } from "vitest";
import type { Failure, StoreCalls } from "./store-calls.js";
import { canHang, WAYS } from "./store-calls.js";

/** One run of a scenario, of which one call to a store fails. */
export interface FailingRun {
  readonly calls: StoreCalls;
  /** The call that failed. */
  readonly failed: string | undefined;
  /** Throws when it does not come to rest. */
  run(): Promise<HistoryReport>;
  /** What went wrong that no history tells. */
  readonly harm: string | undefined;
}

export interface Scenario {
  /** Of the host, as the promises call it. */
  readonly host: string;
  readonly worldOf: (failure: Failure) => FailingRun;
  /** All of them are to be called. */
  readonly verbs: readonly string[];
  readonly effects: number;
}

/** Declares a test for each call to a store and each way in which it fails. A run without a failure says how many calls there are. */
export async function promiseThroughEveryFailure({ host, worldOf, verbs, effects }: Scenario): Promise<void> {
  const whole = worldOf({ nth: 0, way: "reject" });
  const report = await whole.run();
  const calls = [...whole.calls.made];

  it(`a run of ${host} without a failure keeps every promise, and calls every verb`, () => {
    expect(printViolations(report)).toBe("");
    expect(whole.harm).toBeUndefined();
    expect(report.counts.get("effect.ok")).toBe(effects);
    expect(verbs.filter((verb) => !calls.includes(verb))).toEqual([]);
  });

  describe.each(WAYS)(`${host} of which one store call fails by %s`, (way) => {
    const failing = calls.flatMap((call, index) =>
      way !== "hang" || canHang(call) ? [{ nth: index + 1, call }] : [],
    );
    const failed = new Set<string>();
    afterAll(() => console.log(`${failing.length} of ${calls.length} calls failed by ${way}`));

    it.each(failing)(
      "call $nth ($call): nothing is lost, doubled or overtaken, and it comes to rest",
      async ({ nth }) => {
        const world = worldOf({ nth, way });
        const found = await world.run();
        expect(printViolations(found)).toBe("");
        expect(world.harm).toBeUndefined();
        expect(found.counts.get("effect.ok")).toBe(effects);
        failed.add(world.failed ?? "none");
      },
    );

    it("every verb has failed", () => {
      const wanted = verbs.filter((verb) => way !== "hang" || canHang(verb));
      expect(wanted.filter((verb) => !failed.has(verb))).toEqual([]);
    });
  });
}
