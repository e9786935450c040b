import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concat, utf8 } from "./bytes.js";
import {
  asObject,
  depthOf,
  elements,
  field,
  jsonObject,
  members,
  numberText,
  objectField,
  parseJson,
  textField,
} from "./json.js";

const BOM = Uint8Array.of(0xef, 0xbb, 0xbf);

function text(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

describe("a body", () => {
  it("that is JSON is read as JSON.parse reads it", () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(parseJson(utf8(json))).toEqual(JSON.parse(json));
      }),
    );
  });

  it("that is no JSON, cut off or not UTF-8 reads as undefined and never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (body) => {
        expect(() => [
          parseJson(body),
          jsonObject(body),
          elements(body),
          numberText(body, "id"),
        ]).not.toThrow();
      }),
    );
    for (const body of ["", " ", "{", '{"a":1}}', "nul", "\0"]) expect(parseJson(utf8(body))).toBeUndefined();
    // Replacement characters would make two different bodies one.
    expect(parseJson(concat(['{"id":"', Uint8Array.of(0xff), '"}']))).toBeUndefined();
  });

  it("that starts with a byte order mark is read all the same", () => {
    const body = concat([BOM, '{"id":"a"}']);
    expect(textField(jsonObject(body), "id")).toBe("a");
    expect(elements(concat([BOM, "[1, 2]"]))?.map(text)).toEqual(["1", "2"]);
    expect(numberText(concat([BOM, '{"id": 12}']), "id")).toBe("12");
  });

  it("that nests 100,000 deep overflows no stack", () => {
    const deep = utf8(`[${"[".repeat(100_000)}${"]".repeat(100_000)}, 1]`);
    expect(elements(deep)?.map((slice) => slice.length)).toEqual([200_000, 1]);
    expect(jsonObject(deep)).toBeUndefined();
  });
});

describe("a field", () => {
  const object = jsonObject(
    utf8('{"__proto__":{"id":"own"},"id":"evt","empty":"","list":[1],"nil":null,"nested":{"id":"inner"}}'),
  );

  it("is found only where the sender sent it, never on the prototype", () => {
    expect(field(object, "constructor")).toBeUndefined();
    expect(field(object, "toString")).toBeUndefined();
    expect(textField(objectField(object, "__proto__"), "id")).toBe("own");
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
    expect(field(jsonObject(utf8("{}")), "__proto__")).toBeUndefined();
  });

  it("counts as text only when it is a non-empty one", () => {
    expect(textField(object, "id")).toBe("evt");
    for (const name of ["empty", "list", "nil", "nested", "absent"])
      expect(textField(object, name)).toBeUndefined();
    expect(textField(undefined, "id")).toBeUndefined();
  });

  it("counts as an object only when it is one, not an array or null", () => {
    expect(objectField(object, "nested")).toEqual({ id: "inner" });
    for (const value of [null, [], "a", 1, true, undefined]) expect(asObject(value)).toBeUndefined();
  });
});

describe("the elements of an array", () => {
  it("are slices whose JSON is what JSON.parse finds there, in order", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 8 }), fc.constantFrom(0, 1, 4), (list, indent) => {
        const body = utf8(JSON.stringify(list, null, indent));
        expect(elements(body)?.map((slice) => parseJson(slice))).toEqual(JSON.parse(text(body) ?? ""));
      }),
    );
  });

  it("are the very bytes, with their own spacing, escapes and digits", () => {
    const body = utf8('\r\n[ {"a" : "],\\"{,"} ,\t12345678901234567890, "\\u00e9,é" ,[ ] ]\n');
    expect(elements(body)?.map(text)).toEqual([
      '{"a" : "],\\"{,"}',
      "12345678901234567890",
      '"\\u00e9,é"',
      "[ ]",
    ]);
  });

  it("of anything but an array are undefined, and of an empty one none", () => {
    expect(elements(utf8("{}"))).toBeUndefined();
    expect(elements(utf8('"[1]"'))).toBeUndefined();
    expect(elements(utf8("[1"))).toBeUndefined();
    expect(elements(utf8(" [ ] "))).toEqual([]);
  });
});

describe("the text of a number", () => {
  it("keeps every digit, where JSON.parse would make neighbours equal", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (id) => {
        expect(numberText(utf8(`{"other":[{"id":1}],"id" : ${id}\n}`), "id")).toBe(String(id));
      }),
    );
  });

  it("is that of the last of several equal names, as it is for JSON.parse, whatever the last one holds", () => {
    expect(numberText(utf8('{"id":1,"id":2}'), "id")).toBe("2");
    expect(numberText(utf8('{"id":1,"id":"2"}'), "id")).toBeUndefined();
    expect(numberText(utf8('{"id":"1","\\u0069d":2}'), "id")).toBe("2");
  });

  it("is undefined for fractions, exponents, texts and numbers of nested objects", () => {
    for (const json of [
      '{"id":1.0}',
      '{"id":1e3}',
      '{"id":"1"}',
      '{"a":{"id":1}}',
      '{"id":[1]}',
      '[{"id":1}]',
      "1",
    ])
      expect(numberText(utf8(json), "id")).toBeUndefined();
  });

  it("is found behind names full of quotes, braces and commas", () => {
    expect(numberText(utf8('{"a\\",{}":"}","\\\\":2,"id":7}'), "id")).toBe("7");
  });
});

function membersOf(json: string): unknown {
  return members(utf8(json))?.map(({ name, value }) => [name, text(value)]);
}

describe("members", () => {
  it("hold the very bytes of their values, in order, equal names included", () => {
    expect(membersOf('{ "a" : 1.0 , "b:c":"x,}" ,\n"a":{"a":[1, 2]}, "\\u0061": -0}')).toEqual([
      ["a", "1.0"],
      ["b:c", '"x,}"'],
      ["a", '{"a":[1, 2]}'],
      ["a", "-0"],
    ]);
    expect(membersOf("{}")).toEqual([]);
  });

  it.each(["[]", "1", '"{}"', "{", '{"a":01}', '{"a":1}x', ""])("are not in %s", (json) => {
    expect(membersOf(json)).toBeUndefined();
  });
});

describe("the depth of JSON", () => {
  it.each([
    [0, "1"],
    [0, '"[{"'],
    [1, "[]"],
    [1, '{"a":"]","b":"\\"["}'],
    [3, '[{"a":[]},{}]'],
  ])("is %d for %s", (depth, json) => {
    expect(depthOf(utf8(json))).toBe(depth);
  });
});
