import { describe, expect, it } from "vitest";
import { utf8 } from "../../../bytes.js";
import { booleanArray, numberArray, packBytes, textArray } from "./column-arrays.js";

describe("columns as literals of arrays", () => {
  it("texts are quoted and escaped, and a missing one is NULL, which is another than the text NULL", () => {
    expect(textArray([])).toBe("{}");
    expect(textArray(["a", undefined, "NULL", ""])).toBe('{"a",NULL,"NULL",""}');
    expect(textArray(['say "hi"', String.raw`back\slash`, "a,b}"])).toBe(
      String.raw`{"say \"hi\"","back\\slash","a,b}"}`,
    );
  });

  it("NUL, which Postgres has no room for, is written as an escape", () => {
    expect(textArray(["a\0b"])).toBe(String.raw`{"a\\u0000b"}`);
  });

  it("numbers keep every digit, and a missing one is NULL", () => {
    expect(numberArray([1, 2n ** 53n + 1n, undefined, 0])).toBe("{1,9007199254740993,NULL,0}");
    expect(booleanArray([true, false])).toBe("{t,f}");
  });

  it("byte strings are found again in the packed one, a missing one by its missing length", () => {
    const packed = packBytes([utf8("ab"), undefined, utf8(""), utf8("cde")]);
    expect(packed).toEqual({ bytes: utf8("abcde"), starts: "{1,3,3,3}", lengths: "{2,NULL,0,3}" });
  });
});
