import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { createSigner, signSync } from "../../signature/sign.js";
import { standardWebhooks } from "../../signature/schemes/standard.js";
import type { MemoryTx } from "../../stores/memory/client/transaction.js";
import { memoryStore } from "../../stores/memory/store.js";
import { createFakeClock } from "../../testing/fake-clock.js";
import type { HandlerContext, ReceivedEvent } from "./handlers.js";
import { long } from "./long.js";
import type { LongContext } from "./long.js";
import { createReceiver } from "../receiver.js";
import { createWorker } from "../worker/worker.js";
import type { WorkerOptions } from "../worker/worker-options.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

async function setUp() {
  const clock = createFakeClock({ at: Date.parse("2026-11-15T12:00:00Z") });
  const store = memoryStore({ clock, environment: "test" });
  const log: string[] = [];
  const receiver = createReceiver({
    mode: "store_first",
    store,
    clock,
    sources: { shop: standardWebhooks({ secrets: SECRET, clock }) },
  });
  const body = utf8(JSON.stringify({ type: "order.paid" }));
  const headers = signSync(createSigner({ secrets: SECRET, clock }), { id: "evt_1", body });
  await receiver.receive("shop", { headers, body });
  const worker = (given: Partial<WorkerOptions<MemoryTx, "asynchronous">>) =>
    createWorker({ store, clock, observer: () => undefined, retry: { waitsMs: [0, 0, 0, 0] }, ...given });
  /** Runs the handler until it succeeds; it is given how often it has run. */
  const run = async (handler: (context: LongContext, tries: number) => Promise<unknown>) => {
    let tries = 0;
    const ran = async (_: ReceivedEvent, context: LongContext) => {
      tries += 1;
      await handler(context, tries);
    };
    const one = worker({ handlers: { "*": long(ran) } });
    return clock.until(one.drain());
  };
  return { clock, store, log, run, worker };
}

describe("a step", () => {
  it("that was done is not done again when its handler runs again: its result was kept", async () => {
    const { run, log } = await setUp();
    const report = await run(async ({ once }, tries) => {
      const charge = await once("charge", {
        act: () => Promise.resolve({ id: `ch_${tries}`, at: new Date(0) }),
      });
      log.push(JSON.stringify(charge));
      await once("mail", { act: () => void log.push("mail") });
      if (tries < 3) throw new Error("later");
    });
    expect(report).toMatchObject({ handled: 1, failed: 2 });
    const kept = '{"id":"ch_1","at":"1970-01-01T00:00:00.000Z"}';
    expect(log).toEqual([kept, "mail", kept, kept]);
  });

  it("of which nobody knows what came is checked at the other side before it is done again", async () => {
    const { run, log } = await setUp();
    const charged = new Set<string>();
    await run(async ({ once }, tries) => {
      const result = await once("charge", {
        check: (key) => {
          log.push("check");
          return charged.has(key) ? "found" : undefined;
        },
        act: (key) => {
          log.push("act");
          // The first try fails before the other side hears of it, the second one after.
          if (tries > 1) charged.add(key);
          throw new Error("answer lost");
        },
      });
      log.push(result);
    });
    expect(log).toEqual(["act", "check", "act", "check", "found"]);
  });

  it("without a check is done again with the same idempotency key", async () => {
    const { run, log } = await setUp();
    await run(async ({ once, idempotencyKey }, tries) => {
      await once("charge", {
        act(key) {
          log.push(key);
          if (tries === 1) throw new Error("answer lost");
        },
      });
      log.push(idempotencyKey("charge"));
    });
    expect(log).toEqual([log[0], log[0], log[0]]);
  });

  it("is one step, though its handler asks for it twice at once", async () => {
    const { run, log } = await setUp();
    await run(async ({ once }) => {
      const act = () => log.push("act");
      log.push((await Promise.all([once("a", { act }), once("a", { act }), once("b", { act })])).join(" "));
    });
    expect(log).toEqual(["act", "act", "1 1 2"]);
  });

  it("is done anew in another round of a replay, with other keys", async () => {
    const { run, log, store, clock, worker } = await setUp();
    const handler = async ({ once, idempotencyKey }: LongContext) => {
      await once("charge", { act: (key) => void log.push(key) });
      log.push(idempotencyKey("charge"));
    };
    await run(async (context) => {
      await handler(context);
      throw new Error("not yet");
    });
    expect(new Set(log).size).toBe(1);
    const again = { ...store, roundOf: () => Promise.resolve({ round: 2, outcome: undefined }) };
    const [dead] = (await store.deadLetters({ limit: 1 })).items;
    await store.redrive(dead?.id ?? "");
    const ran = (_: ReceivedEvent, context: LongContext) => handler(context);
    await clock.until(createWorker({ store: again, clock, handlers: { "*": long(ran) } }).drain());
    expect(new Set(log).size).toBe(2);
    expect(worker).toBeDefined();
  });

  it("whose result cannot be kept fails, and says why", async () => {
    const { run, log } = await setUp();
    await run(async ({ once }) => {
      const wrong = [
        once("class", { act: () => new Map() }),
        once("large", { act: () => "x".repeat(9000) }),
        once("", { act: () => 1 }),
      ];
      for (const each of await Promise.allSettled(wrong)) {
        log.push(each.status === "rejected" ? (each.reason as { code: string }).code : "kept");
      }
    });
    expect(log).toEqual(["step_result_invalid", "step_result_invalid", "inbox_option_invalid"]);
  });

  it.each<[RegExp, (context: LongContext) => unknown]>([
    [
      /The step "charge" is of type function; expected \{ act: \(key\) => … \}/,
      ({ once }) => once("charge", (() => 1) as never),
    ],
    [/The step "charge" is of type undefined; expected/, ({ once }) => once("charge", undefined as never)],
    [
      /act of the step "charge" is of type undefined; expected a function/,
      ({ once }) => once("charge", {} as never),
    ],
    [
      /check of the step "charge" is of type number/,
      ({ once }) => once("charge", { check: 1 as never, act: () => 1 }),
    ],
    [
      /step's name is of type undefined; expected a text/,
      ({ once }) => once(undefined as never, { act: () => 1 }),
    ],
    [
      /step's name is of type undefined; expected a text/,
      ({ idempotencyKey }) => idempotencyKey(undefined as never),
    ],
    [/step's name is of type object; expected a text/, ({ idempotencyKey }) => idempotencyKey({} as never)],
  ])("that is none is refused before anything is noted of it: %s", async (message, misuse) => {
    const { run, store, log } = await setUp();
    const begun: string[] = [];
    const beginStep = store.beginStep.bind(store);
    store.beginStep = (key, storedAs) => (begun.push(key.step), beginStep(key, storedAs));
    await run(async (context) => {
      try {
        await misuse(context);
      } catch (error) {
        log.push((error as Error).message);
      }
    });
    expect(log).toEqual([expect.stringMatching(message)]);
    expect(begun).toEqual([]);
  });

  it.each(["long", "plain"])(
    "of one consumer has other keys than that of another, and a redrive has the same: %s",
    async (kind) => {
      const { store, clock, log } = await setUp();
      const failing =
        (name: string) =>
        (_: ReceivedEvent, { idempotencyKey }: HandlerContext): never => {
          log.push(`${name} ${idempotencyKey("charge")}`);
          throw new Error("not yet");
        };
      const named = (name: string) => ({
        handlers: { "*": kind === "long" ? long(failing(name)) : failing(name) },
        retry: { waitsMs: [] },
      });
      const both = createWorker({
        store,
        clock,
        observer: () => undefined,
        consumers: { a: named("a"), b: named("b") },
      });
      await clock.until(both.drain());
      for (const { id } of (await store.deadLetters({ limit: 10 })).items) await store.redrive(id);
      await clock.until(both.drain());
      expect(log.length).toBe(4);
      expect(new Set(log).size).toBe(2);
      expect(new Set(log.map((line) => line.slice(2))).size).toBe(2);
    },
  );
});
