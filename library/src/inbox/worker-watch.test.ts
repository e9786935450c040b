import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Signal } from "../observer.js";
import { stripe } from "../signature/schemes/stripe.js";
import { memoryStore } from "../stores/memory/store.js";
import { createFakeClock } from "../testing/fake-clock.js";
import { signedRequest } from "../testing/signed-request/signed-request.js";
import { createReceiver } from "./receiver.js";
import { createWorker } from "./worker/worker.js";

const SECRET = "whsec_one_endpoint";
const told: string[] = [];

beforeEach(() => {
  told.length = 0;
  vi.spyOn(console, "warn").mockImplementation((text: string) => void told.push(text));
});
afterEach(() => vi.restoreAllMocks());

function setUp(observer?: (signal: Signal) => void) {
  const clock = createFakeClock();
  const store = memoryStore({ clock, environment: "test" });
  const sources = { stripe: stripe({ secrets: SECRET, clock }), other: stripe({ secrets: SECRET, clock }) };
  const receiver = createReceiver({
    mode: "store_first",
    store,
    clock,
    sources,
    ...(observer && { observer }),
  });
  const post = async (id: string, source: "stripe" | "other" = "stripe"): Promise<void> => {
    const request = await signedRequest("stripe", { id, type: "invoice.paid", secrets: SECRET, clock });
    expect((await receiver.receive(source, request)).verdict).toBe("stored");
  };
  const handlers = { "invoice.paid": (): void => undefined };
  return { clock, receiver, post, worker: createWorker({ store, clock, handlers, sources: ["stripe"] }) };
}

describe("a receiver that stores events for which no worker has registered", () => {
  it("says so on stderr, once for each source, where it has no observer", async () => {
    const { clock, post } = setUp();
    await post("evt_1");
    await post("evt_2");
    await clock.advance(1999);
    expect(told).toEqual([]);
    await clock.advance(1);
    await post("evt_3", "other");
    await clock.advance(10_000);
    expect(told).toEqual([
      expect.stringMatching(
        /^posthorn: stripe:invoice\.paid evt_1 is stored, and no worker has registered handlers for stripe yet: await createWorker\(\{ store, handlers \}\)\.start\(\)/,
      ),
      expect.stringContaining("other:invoice.paid evt_3"),
    ]);
  });

  it("tells its observer", async () => {
    const signals: Signal[] = [];
    const { clock, post } = setUp((signal) => signals.push(signal));
    await post("evt_1");
    await clock.advance(2000);
    expect(signals.at(-1)).toEqual({
      kind: "worker_missing",
      source: "stripe",
      type: "invoice.paid",
      id: "evt_1",
    });
    expect(told).toEqual([]);
  });

  it("says nothing where a worker is there in time, as in a test that drains", async () => {
    const { clock, post, worker } = setUp();
    await post("evt_1");
    await worker.drain();
    await clock.advance(10_000);
    await post("evt_2");
    await clock.advance(10_000);
    expect(told).toEqual([]);
  });

  it("tells of a source that no worker names, though one is there for others", async () => {
    const { clock, post, worker } = setUp();
    await worker.drain();
    await post("evt_1", "other");
    await clock.advance(2000);
    expect(told).toEqual([expect.stringContaining("handlers for other yet")]);
  });

  it("does not wait for it once it is stopped", async () => {
    const { clock, post, receiver } = setUp();
    await post("evt_1");
    await receiver.stop();
    expect(clock.sleeping).toBe(0);
    expect(told).toEqual([]);
  });
});
