import { describe, expect, it } from "vitest";
import { utf8 as bytes } from "../../bytes.js";
import { parseJsonPointer } from "../../json-pointer.js";
import { orderingKey } from "./ordering-key.js";

const at = (pointer: string, body: string): string | undefined =>
  orderingKey({ pointer: parseJsonPointer(pointer) ?? [] }, {}, bytes(body));

describe("the key of an event", () => {
  it("is what stands in its place, as text", () => {
    expect(at("/data/customer", '{"data":{"customer":"cus_1"}}')).toBe("cus_1");
    expect(at("/items/1/id", '{"items":[{},{"id":42}]}')).toBe("42");
    expect(at("/a~1b", '{"a/b":true}')).toBe("true");
    expect(orderingKey({ header: "x-account" }, { "x-account": "7" }, bytes(""))).toBe("7");
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
