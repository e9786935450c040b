import { describe, expect, it } from "vitest";
import { atPointer, parseJsonPointer } from "./json-pointer.js";

// The document and the answers of RFC 6901, section 5.
const DOCUMENT = JSON.parse(
  String.raw`{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}`,
) as unknown;

function at(text: string, document: unknown = DOCUMENT): unknown {
  const pointer = parseJsonPointer(text);
  if (pointer === undefined) throw new Error(`not a pointer: ${text}`);
  return atPointer(document, pointer);
}

describe("a JSON pointer", () => {
  it.each([
    ["/foo", ["bar", "baz"]],
    ["/foo/0", "bar"],
    ["/", 0],
    ["/a~1b", 1],
    ["/c%d", 2],
    ["/e^f", 3],
    ["/g|h", 4],
    [String.raw`/i\j`, 5],
    ['/k"l', 6],
    ["/ ", 7],
    ["/m~0n", 8],
  ])("%s leads to what RFC 6901 says", (text, expected) => {
    expect(at(text)).toEqual(expected);
  });

  it.each(["", "foo", "#/foo", "/a~", "/a~2b"])("is refused when it is %j", (text) => {
    expect(parseJsonPointer(text)).toBeUndefined();
  });

  it.each(["/nothing", "/foo/2", "/foo/-1", "/foo/00", "/foo/length", "/foo/0/deeper", "/constructor"])(
    "leads nowhere at %s",
    (text) => {
      expect(at(text)).toBeUndefined();
    },
  );

  it("leads nowhere in what is not JSON", () => {
    expect(at("/a", undefined)).toBeUndefined();
    expect(at("/length", "text")).toBeUndefined();
  });
});
