import { describe, expect, it } from "vitest";
import { utf8 as bytes } from "../../bytes.js";
import { parseJsonPointer } from "../../json-pointer.js";
import { standardWebhooks } from "../../signature/schemes/standard.js";
import { createSigner, signSync } from "../../signature/sign.js";
import { memoryStore } from "../../stores/memory/store.js";
import type { Arrival } from "../inbox-store.js";
import { createReceiver } from "../receiver.js";
import type { Receiver } from "../receiver.js";
import { orderingKey } from "./ordering-key.js";

const at = (pointer: string, body: string): string | undefined =>
  orderingKey({ pointer: parseJsonPointer(pointer) ?? [] }, {}, bytes(body));

describe("the key of an event", () => {
  it("is what stands in its place, as text", () => {
    expect(at("/data/customer", '{"data":{"customer":"cus_1"}}')).toBe("cus_1");
    expect(at("/items/1/id", '{"items":[{},{"id":42}]}')).toBe("42");
    expect(at("/a~1b", '{"a/b":true}')).toBe("true");
    for (const headers of [{ "x-account": "7" }, { "X-Account": ["7"] }, new Headers({ "x-account": "7" })])
      expect(orderingKey({ header: "x-account" }, headers, bytes(""))).toBe("7");
  });

  it("that is a number is its digits as they were sent: rounded, two keys would be one", () => {
    expect(at("/items/1/id", '{"items":[{},{"id": 9007199254740993 }]}')).toBe("9007199254740993");
    expect(at("/id", '{"id":1,"id":-9007199254740995}')).toBe("-9007199254740995");
    expect(at("/id", '{"id":1e300}')).toBe("1e+300");
    expect(at("/items/01/id", '{"items":[{},{"id":9007199254740993}]}')).toBeUndefined();
  });

  it.each([
    ["nothing", "{}"],
    ["an empty text", '{"key":""}'],
    ["null", '{"key":null}'],
    ["an object", '{"key":{}}'],
    ["no JSON at all", "key=1"],
  ])("is none where there is %s", (_what, body) => {
    expect(at("/key", body)).toBeUndefined();
  });

  it("is none where the place is something that every object inherits", () => {
    expect(at("/constructor", "{}")).toBeUndefined();
    expect(at("/length", "[1,2]")).toBeUndefined();
    expect(orderingKey({ header: "constructor" }, {}, bytes(""))).toBeUndefined();
  });

  it("is a hash where it could not be stored as it is, the same for the same key", () => {
    const long = JSON.stringify({ key: "x".repeat(5000) });
    expect(at("/key", long)).toMatch(/^sha256 [0-9a-f]{64}$/);
    expect(at("/key", long)).toBe(at("/key", long));
    expect(at("/key", String.raw`{"key":"a\u0000b"}`)).not.toBe(at("/key", String.raw`{"key":"a\u0000c"}`));
    expect(at("/key", String.raw`{"key":"\ud800"}`)).toBe(
      "sha256 6e6535d29be7bfac2971dc0853620d739dd43a62c41409d21d39ccb9b29e224b",
    );
  });
});

describe("a key in a header that is not kept, as it may be a credential", () => {
  const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const verifier = standardWebhooks({ secrets: SECRET });
  const key = { header: "X-Account-Token" };
  const post = async (receiver: Receiver, n: number): Promise<unknown> => {
    const body = bytes('{"type":"read"}');
    const signed = signSync(createSigner({ secrets: SECRET }), { id: `evt_${n}`, body });
    const headers = { ...signed, "x-account-token": `account ${n}`, "x-secret-count": String(n) };
    return (await receiver.receive("shop", { headers, body })).verdict;
  };

  it("orders what is stored, and a place in the sequence is read there, too; the headers are kept without both", async () => {
    const store = memoryStore({ environment: "test" });
    const order = { policy: "hold", sequence: { header: "x-secret-count" } } as const;
    const receiver = createReceiver({
      mode: "store_first",
      store,
      sources: { shop: { verifier, key, order } },
    });
    for (const n of [1, 2]) expect(await post(receiver, n)).toBe("stored");
    const { items } = await store.events({}, { limit: 10 });
    expect(items.map((each) => each.key)).toEqual(["account 2", "account 1"]);
    for (const { id, providerId, key: account } of items) {
      const held = await store.heldEvent("default", id);
      expect([held?.key, `evt_${held?.sequence}`]).toEqual([account, providerId]);
      const event = await store.event("default", id);
      expect(event?.headers).toMatchObject({
        "x-account-token": "[redacted]",
        "x-secret-count": "[redacted]",
      });
    }
  });

  it("orders what is redriven after it failed in its request", async () => {
    const store = memoryStore({ environment: "test" });
    const failed: Arrival[] = [];
    const noting = { ...store, fail: (arrival: Arrival) => Promise.resolve(void failed.push(arrival)) };
    const handlers = {
      "*": () => {
        throw new Error("no");
      },
    };
    const receiver = createReceiver({ store: noting, sources: { shop: { verifier, key } }, handlers });
    for (const n of [1, 2]) expect(await post(receiver, n)).toBe("failed");
    expect(failed.map((each) => each.key)).toEqual(["account 1", "account 2"]);
  });
});
