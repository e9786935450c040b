import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Signal } from "../observer.js";
import { stripe } from "../signature/schemes/stripe.js";
import { memoryStore } from "../stores/memory/store.js";
import { createFakeClock } from "../testing/fake-clock.js";
import { signedRequest } from "../testing/signed-request/signed-request.js";
import { createReceiver } from "./receiver.js";
import { createWorker } from "./worker/worker.js";

const SECRET = "whsec_one_endpoint";
const DAY_MS = 86_400_000;
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
  const worker = createWorker({ store, clock, handlers, sources: ["stripe"] });
  const another = createWorker({ store, clock, consumers: { crm: { handlers, sources: ["stripe"] } } });
  return { clock, receiver, post, worker, another };
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
      consumers: [],
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

  it("tells on a second day that no worker has had the handlers for three minutes, and names them", async () => {
    const { clock, post, worker } = setUp();
    await post("evt_1");
    await worker.drain();
    await clock.advance(DAY_MS);
    await post("evt_2");
    await clock.advance(2000);
    expect(told).toEqual([
      expect.stringMatching(
        /stripe:invoice\.paid evt_2 is stored, and it waits for hnd_default, which no worker has had for 3 minutes: .*start\(\)/,
      ),
    ]);
  });

  it("tells of the consumer that no worker has, though another has one for the same source", async () => {
    const signals: Signal[] = [];
    const { clock, post, worker, another } = setUp((signal) => signals.push(signal));
    await another.drain();
    await clock.advance(180_000);
    await worker.drain();
    await post("evt_1");
    await clock.advance(2000);
    expect(signals.at(-1)).toMatchObject({ kind: "worker_missing", consumers: ["hnd_crm"] });
  });

  it("says nothing of a worker that is away for less than three minutes, as in a deploy", async () => {
    const { clock, post, worker } = setUp();
    await worker.drain();
    await clock.advance(177_000);
    await post("evt_1");
    await clock.advance(2000);
    expect(told).toEqual([]);
  });

  it("notices a worker that goes while events come, and tells of it once an hour", async () => {
    const signals: Signal[] = [];
    const { clock, post, worker } = setUp((signal) => signals.push(signal));
    const missing = (): number => signals.filter(({ kind }) => kind === "worker_missing").length;
    await worker.drain();
    for (let minute = 0; minute < 10; minute++) {
      await post(`evt_${minute}`);
      await clock.advance(60_000);
    }
    expect(missing()).toBe(1);
    await clock.advance(3_600_000);
    for (const id of ["evt_10", "evt_11"]) await post(id);
    await clock.advance(2000);
    expect(missing()).toBe(2);
  });

  it("does not wait for it once it is stopped", async () => {
    const { clock, post, receiver } = setUp();
    await post("evt_1");
    await receiver.stop();
    expect(clock.sleeping).toBe(0);
    expect(told).toEqual([]);
  });
});
