import { createReceiver, createWorker } from "posthorn";
import { memoryStore } from "posthorn/memory";
import { github } from "posthorn/providers";
import { createRepair } from "posthorn/repair";
import { createFakeClock, TEST_SECRETS } from "posthorn/testing";
import { describe, expect, it } from "vitest";
import { idsOf, listed, many, NOON, SINCE } from "./repair-world.js";

const DAY_S = 86_400;

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
});
