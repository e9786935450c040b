import { createReceiver, createWorker } from "posthorn";
import type { Receiver } from "posthorn";
import { memoryStore } from "posthorn/memory";
import { github } from "posthorn/providers";
import { createRepair } from "posthorn/repair";
import { createFakeClock, TEST_SECRETS } from "posthorn/testing";
import { describe, expect, it } from "vitest";
import type { Made } from "./provider-apis.js";
import { delivery } from "./repair-promises.js";
import { HOUR_MS, idsOf, listed, many, NOON, setUp, SINCE } from "./repair-world.js";

const DAY_S = 86_400;
const KEPT = { keptMs: 30 * 24 * HOUR_MS };

const HANDLING = ["in its transaction", "by a worker", "by a named consumer"] as const;

interface Given {
  readonly handling: (typeof HANDLING)[number];
  readonly stale?: "accept" | undefined;
}

/** A receiver that remembers for a day, and who handles its events. */
function handledBy({ handling, stale }: Given) {
  const clock = createFakeClock({ at: NOON });
  const store = memoryStore({ clock, environment: "test" });
  const handled: string[] = [];
  const handlers = { "*": ({ id }: { readonly id: string }) => void handled.push(id) };
  const verifier = github({ secrets: TEST_SECRETS.github.verifying, clock });
  const sources = { github: { verifier, windowS: DAY_S, ...(stale === undefined ? {} : { stale }) } };
  const base = { store, clock, observer: () => undefined };
  if (handling === "in its transaction") {
    const receiver = createReceiver({ ...base, sources, handlers });
    return { ...base, receiver, handled, work: () => Promise.resolve() };
  }
  const receiver = createReceiver({ ...base, mode: "store_first", sources });
  const worker =
    handling === "by a worker"
      ? createWorker({ ...base, handlers })
      : createWorker({ ...base, consumers: { billing: { handlers } } });
  const work = async (): Promise<void> => void (await worker.drain());
  return { ...base, receiver, handled, work };
}

describe("a repair of a log in which nothing new comes", () => {
  it.each(HANDLING.flatMap((handling) => [{ handling }, { handling, stale: "accept" as const }]))(
    "handles an event $handling once, also when the receiver has forgotten it (stale: $stale)",
    async (given) => {
      const { clock, store, observer, receiver, handled, work } = handledBy(given);
      const made = [delivery(0, NOON - 60_000)];
      const { log, loaded } = listed(() => made, KEPT);
      const repair = createRepair({ receiver, store, clock, observer, since: SINCE, logs: { github: log } });
      const stale: unknown[] = [];
      for (let runs = 0; runs < 9; runs++) {
        stale.push((await repair.once())[0]?.stale);
        await work();
        await clock.advance(8 * HOUR_MS);
        await receiver.purge();
      }
      expect(handled).toEqual(["guid-0"]);
      expect(loaded).toEqual(["guid-0"]);
      expect(stale).toEqual(Array.from({ length: 9 }, () => 0));
      made.push(delivery(1, clock.now() - 60_000));
      expect(await repair.once()).toMatchObject([{ read: 1, applied: 1 }]);
    },
  );

  it("leaves out nothing that no run has tried, however old it is", async () => {
    const { clock, receiver, store, observer } = handledBy({ handling: "in its transaction" });
    const { log } = listed(() => many(3), KEPT);
    const full: Pick<Receiver<"github">, "repair" | "repairable"> = {
      repairable: () => receiver.repairable("github"),
      repair: (source, logged) =>
        logged.id === "guid-0" ? receiver.repair(source, logged) : Promise.resolve("saturated"),
    };
    const given = { store, clock, observer, since: SINCE, logs: { github: log } };
    expect(await createRepair({ ...given, receiver: full }).once()).toMatchObject([
      { applied: 1, unsettled: 2 },
    ]);
    await clock.advance(2 * 24 * HOUR_MS);
    expect(await createRepair({ ...given, receiver }).once()).toMatchObject([{ read: 2, stale: 2 }]);
  });

  it("leaves out nothing that was cut off in the moment in which a run ended", async () => {
    const { clock, receiver, store, observer } = handledBy({ handling: "in its transaction" });
    const { log } = listed(() => many(5, 0), KEPT);
    const given = { store, clock, observer, since: SINCE, logs: { github: log }, maxEntries: 3 };
    expect(await createRepair({ ...given, receiver }).once()).toMatchObject([{ applied: 3, more: true }]);
    await clock.advance(2 * 24 * HOUR_MS);
    const [report] = await createRepair({ ...given, receiver }).once();
    // All five: the receiver has forgotten those of the first run by now, and applies none of them again.
    expect(report).toMatchObject({ applied: 0, stale: 5 });
  });
});

describe("a repair that runs again", () => {
  it.each(HANDLING.slice(1))("loads nothing that waits, or that was handled, %s", async (handling) => {
    const { clock, store, observer, receiver, handled, work } = handledBy({ handling });
    const made = many(5);
    const { log, loaded } = listed(() => made);
    const repair = createRepair({ receiver, store, clock, observer, since: SINCE, logs: { github: log } });
    expect(await repair.once()).toMatchObject([{ read: 5, applied: 5, unsettled: 0 }]);
    expect(await repair.once()).toMatchObject([{ read: 5, duplicate: 5 }]);
    expect(loaded).toHaveLength(5);
    await work();
    expect(handled.toSorted()).toEqual(idsOf(made));
    expect(await repair.once()).toMatchObject([{ read: 5, duplicate: 5 }]);
    expect(loaded).toHaveLength(5);
  });

  it("reads no further back each time that it ends within its overlap", async () => {
    const { clock, repairOf, receiver } = setUp();
    const made = many(60, 60_000);
    const { log } = listed(() => made);
    await repairOf({ github: log }).once();
    const full: Pick<Receiver<"github">, "repair" | "repairable"> = {
      repairable: () => receiver.repairable("github"),
      repair: () => Promise.resolve("saturated"),
    };
    const from: unknown[] = [];
    for (let runs = 0; runs < 3; runs++) {
      await clock.advance(60_000);
      from.push((await repairOf({ github: log }, { receiver: full }).once())[0]?.from);
    }
    expect(from).toEqual(from.map(() => new Date(NOON - 360_000)));
    const late: Made = delivery(60, clock.now());
    made.push(late);
    expect(await repairOf({ github: log }).once()).toMatchObject([{ applied: 1, duplicate: 6 }]);
  });
});
