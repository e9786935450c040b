import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import type { DedupRule } from "../../dedup-rule.js";
import type { Signal } from "../../observer.js";
import { standardWebhooks } from "../../signature/schemes/standard.js";
import { createSigner, signSync } from "../../signature/sign.js";
import type { MemoryTx } from "../../stores/memory/client/transaction.js";
import { memoryStore } from "../../stores/memory/store.js";
import { createFakeClock } from "../../testing/fake-clock.js";
import { createReceiver } from "../receiver.js";
import { createWorker } from "../worker/worker.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const WITHOUT_SENT_AT: DedupRule = { by: "content", content: "json", exclude: ["/sent_at"] };

function setUp(mode: "store_first" | "in_transaction", dedup: DedupRule) {
  const clock = createFakeClock({ at: Date.parse("2026-11-15T12:00:00Z") });
  const store = memoryStore({ clock, environment: "test" });
  const effects: string[] = [];
  const signals: Signal[] = [];
  const observer = (signal: Signal): void => void signals.push(signal);
  const handlers = {
    "*": (event: { body: Uint8Array }, { tx }: { tx: MemoryTx }) =>
      tx.onCommit(() => effects.push(new TextDecoder().decode(event.body))),
  };
  const sources = { shop: { verifier: standardWebhooks({ secrets: SECRET, clock }), dedup } };
  const receiver =
    mode === "store_first"
      ? createReceiver({ mode, store, clock, observer, sources })
      : createReceiver({ store, clock, observer, sources, handlers });
  const post = async (id: string, text: string): Promise<string | undefined> => {
    const body = utf8(text);
    const headers = signSync(createSigner({ secrets: SECRET, clock }), { id, body });
    return (await receiver.receive("shop", { headers, body })).verdict;
  };
  const worker = createWorker({ store, clock, handlers });
  return { post, effects, worker, signals };
}

describe.each(["store_first", "in_transaction"] as const)("%s: an event is known again", (mode) => {
  const first = mode === "store_first" ? "stored" : "applied";

  it("by its canonical form, whatever the order of its fields and whatever stands in those that do not count", async () => {
    const { post, effects, worker } = setUp(mode, WITHOUT_SENT_AT);
    expect(await post("1", '{"type":"paid","order":7,"sent_at":1}')).toBe(first);
    expect(await post("2", '{ "sent_at": 2, "order": 7, "type": "paid" }')).toBe("duplicate");
    expect(await post("2", '{"type":"paid","order":8,"sent_at":2}')).toBe(first);
    await worker.drain();
    expect(effects).toEqual([
      '{"type":"paid","order":7,"sent_at":1}',
      '{"type":"paid","order":8,"sent_at":2}',
    ]);
  });

  it("by the fields alone that count", async () => {
    const { post } = setUp(mode, { by: "content", content: "json", include: ["/order", "/state"] });
    expect(await post("1", '{"order":7,"state":"paid","note":"a"}')).toBe(first);
    expect(await post("2", '{"order":7,"state":"paid","note":"b"}')).toBe("duplicate");
    expect(await post("3", '{"order":7,"state":"sent","note":"b"}')).toBe(first);
  });

  it("by its exact bytes where they have no canonical form, and the observer is told so", async () => {
    const { post, signals } = setUp(mode, WITHOUT_SENT_AT);
    expect(await post("1", "no JSON")).toBe(first);
    expect(await post("2", "no JSON")).toBe("duplicate");
    expect(signals.find(({ kind }) => kind === "event_received")).toMatchObject({
      why: "the body has no canonical form: its exact bytes name it",
    });
  });

  it("by its bytes, of which every one counts", async () => {
    const { post } = setUp(mode, { by: "content", content: "raw" });
    expect(await post("1", '{"order":7}')).toBe(first);
    expect(await post("2", '{"order":7}')).toBe("duplicate");
    expect(await post("3", '{"order": 7}')).toBe(first);
  });
});

describe("an event that is known by its id and by its content", () => {
  const both: DedupRule = { by: "both", content: "json", exclude: ["/sent_at"] };

  it("is a duplicate where either is known, and a conflict where its id is known with other content", async () => {
    const { post, effects, worker } = setUp("store_first", both);
    expect(await post("1", '{"order":7,"sent_at":1}')).toBe("stored");
    expect(await post("1", '{"sent_at":2,"order":7}')).toBe("duplicate");
    expect(await post("2", '{"sent_at":3,"order":7}')).toBe("duplicate");
    // Its other id is a name of it from now on.
    expect(await post("2", '{"order":8}')).toBe("conflict");
    expect(await post("3", '{"order":9}')).toBe("stored");
    await worker.drain();
    expect(effects).toEqual(['{"order":7,"sent_at":1}', '{"order":9}']);
  });

  it("needs a store that keeps several names of it", () => {
    expect(() => setUp("in_transaction", both)).toThrow(/"both", which needs mode: "store_first"/);
  });
});

it.each([
  [{ by: "body" }, 'dedup.by of "shop": expected "id", "content" or "both"'],
  [{ by: "id", content: "raw" }, 'dedup.content of "shop": found with by "id"'],
  [{ by: "content" }, 'dedup.content of "shop": expected "raw" or "json"'],
  [{ by: "content", content: "raw", exclude: ["/a"] }, 'dedup.exclude of "shop": found with content "raw"'],
  [
    { by: "both", content: "json", include: ["a"] },
    'dedup.include of "shop": expected up to 64 JSON pointers',
  ],
])("a rule such as %j is refused", (dedup, message) => {
  expect(() => setUp("store_first", dedup as DedupRule)).toThrow(message);
});
