import { describe, expect, it } from "vitest";
import { createFakeClock } from "../testing/fake-clock.js";
import { memoryStore } from "../stores/memory/store.js";
import type { Signal } from "../observer.js";
import { standardWebhooks } from "../signature/schemes/standard.js";
import { createSigner, signSync } from "../signature/sign.js";
import { utf8 } from "../bytes.js";
import { inOrder, postArray, Seen } from "../../../test/array-request.js";
import { createReceiver } from "./receiver.js";
import { createWorker } from "./worker/worker.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const DAY_MS = 86_400_000;

async function stored(count: number) {
  const clock = createFakeClock({ at: Date.parse("2026-11-15T12:00:00Z") });
  const store = memoryStore({ clock, environment: "test" });
  const sources = { shop: standardWebhooks({ secrets: SECRET, clock }) };
  const receiver = createReceiver({ mode: "store_first", store, clock, sources });
  for (let n = 0; n < count; n++) {
    const body = utf8(`{"type":"paid","n":${n}}`);
    const headers = signSync(createSigner({ secrets: SECRET, clock }), { id: `evt_${n}`, body });
    await receiver.receive("shop", { headers, body });
  }
  await createWorker({ store, clock, handlers: { paid: () => undefined } }).drain();
  return { clock, store, receiver };
}

describe("a purge of a receiver that stores first", () => {
  it("forgets the names of stored events with the rows of the inbox, once their window has passed, and no sooner", async () => {
    const { clock, store, receiver } = await stored(5);
    expect(await receiver.purge()).toEqual({ removed: 0, more: false });
    await clock.advance(15 * DAY_MS);
    expect(await receiver.purge()).toEqual({ removed: 10, more: false });
    expect(await store.forgetNames({ maxNames: 100 })).toBe(0);
  });

  it("stops at its limit, says that there may be more, and goes on where it stopped", async () => {
    const { clock, receiver } = await stored(5);
    await clock.advance(15 * DAY_MS);
    const reports = [];
    for (let calls = 0; calls < 3; calls++) reports.push(await receiver.purge({ maxRows: 4 }));
    expect(reports).toEqual([
      { removed: 4, more: true },
      { removed: 4, more: true },
      { removed: 2, more: false },
    ]);
  });
});

describe("the events of one request", () => {
  it("are handed to the store together, and keep their order within their key", async () => {
    const store = memoryStore({ environment: "test" });
    const seen = new Seen();
    let [underWay, most] = [0, 0];
    const watched = {
      ...store,
      ingest: async (incoming: Parameters<typeof store.ingest>[0]) => {
        most = Math.max(most, ++underWay);
        return store.ingest(incoming).finally(() => underWay--);
      },
    };
    expect((await postArray(watched, 30)).verdict).toBe("stored");
    expect(most).toBe(30);
    await createWorker({ store, handlers: { delivered: ({ data }) => seen.add(data) } }).drain();
    expect(seen.numbers).toEqual(inOrder(30));
  });

  it("have a verdict each: where one cannot be stored the others are, and the sender comes again", async () => {
    const store = memoryStore({ environment: "test" });
    const signals: Signal[] = [];
    const failing = {
      ...store,
      ingest: (incoming: Parameters<typeof store.ingest>[0]) =>
        incoming.event.receipt?.id === "evt_2"
          ? Promise.reject(new Error("no disk"))
          : store.ingest(incoming),
    };
    const reply = await postArray(failing, 5, (signal) => signals.push(signal));
    expect([reply.status, reply.verdict]).toEqual([503, "unavailable"]);
    const verdicts = signals.flatMap((each) => (each.kind === "event_received" ? [each.verdict] : []));
    expect(verdicts).toEqual(["stored", "stored", "unavailable", "stored", "stored"]);
    const again: Signal[] = [];
    expect((await postArray(store, 5, (signal) => again.push(signal))).verdict).toBe("duplicate");
    expect(again.flatMap((each) => (each.kind === "event_received" ? [each.verdict] : []))).toEqual([
      "duplicate",
      "duplicate",
      "stored",
      "duplicate",
      "duplicate",
    ]);
  });
});

it("an event whose key is not where its source looks for it is told to the observer, once it is stored", async () => {
  const signals: Signal[] = [];
  const clock = createFakeClock();
  const store = memoryStore({ clock, environment: "test" });
  const verifier = standardWebhooks({ secrets: SECRET, clock });
  const sources = { shop: { verifier, key: { json: "/data/order" } } };
  const observer = (signal: Signal): unknown => signals.push(signal);
  const receiver = createReceiver({ mode: "store_first", store, clock, sources, observer });
  for (const [id, text] of Object.entries({
    evt_1: '{"type":"paid"}',
    evt_2: '{"type":"paid","data":{"order":7}}',
  })) {
    const body = utf8(text);
    const headers = signSync(createSigner({ secrets: SECRET, clock }), { id, body });
    for (let sent = 0; sent < 2; sent++) await receiver.receive("shop", { headers, body });
  }
  expect(signals.filter(({ kind }) => kind === "key_missing")).toEqual([
    {
      kind: "key_missing",
      tenant: "default",
      source: "shop",
      type: "paid",
      id: "evt_1",
      place: '{ json: "/data/order" }',
    },
  ]);
});
