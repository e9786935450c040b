import { describe, expect, it } from "vitest";
import { DER, derElement, derElements } from "./der.js";

/** The element at the start of these bytes, which end where it may end. */
function first(...bytes: number[]): ReturnType<typeof derElement> {
  return derElement(Uint8Array.of(...bytes), 0, bytes.length);
}

function filled(length: number, ...head: number[]): Uint8Array {
  const bytes = new Uint8Array(head.length + length);
  bytes.set(head);
  return bytes;
}

function parent(end: number): { content: number; end: number } {
  return { content: 0, end };
}

describe("an element", () => {
  it("has a short length up to 127 bytes", () => {
    const bytes = filled(0x7f, DER.sequence, 0x7f);
    expect(derElement(bytes, 0, bytes.length)).toEqual({ tag: 0x30, start: 0, content: 2, end: 129 });
  });

  it.each([
    ["one byte", [0x81, 0x80], 0x80],
    ["two bytes", [0x82, 0x01, 0x00], 0x100],
    ["three bytes", [0x83, 0x01, 0x00, 0x00], 0x10000],
  ])("has a length of %s where that is its shortest form", (_, head, length) => {
    const bytes = filled(length, DER.sequence, ...head);
    const content = 1 + head.length;
    expect(derElement(bytes, 0, bytes.length)).toEqual({
      tag: 0x30,
      start: 0,
      content,
      end: content + length,
    });
  });

  it.each([
    ["one byte where none is needed", [0x81, 0x7f], 0x7f],
    ["two bytes where one is enough", [0x82, 0x00, 0xff], 0xff],
    ["three bytes where two are enough", [0x83, 0x00, 0xff, 0xff], 0xffff],
  ])("is refused with a length of %s", (_, head, length) => {
    const bytes = filled(length, DER.sequence, ...head);
    expect(derElement(bytes, 0, bytes.length)).toBeUndefined();
  });

  it("is refused where it ends behind its limit, by one byte already", () => {
    expect(first(DER.integer, 1, 7)).toEqual({ tag: DER.integer, start: 0, content: 2, end: 3 });
    expect(first(DER.integer, 2, 7)).toBeUndefined();
    expect(derElement(Uint8Array.of(DER.integer, 1, 7), 0, 2)).toBeUndefined();
  });

  it("is refused with a length that says four bytes, no bytes, or nothing at all", () => {
    expect(first(DER.sequence, 0x84, 0, 0, 0, 0)).toBeUndefined();
    expect(first(DER.sequence, 0x80, 0, 0)).toBeUndefined();
    expect(first(DER.sequence)).toBeUndefined();
    expect(first()).toBeUndefined();
  });

  it("is refused with a tag of several bytes", () => {
    expect(first(0x1f, 0x01, 0x00)).toBeUndefined();
  });
});

describe("the elements of a content", () => {
  it("are found one behind the other, to the last byte", () => {
    const bytes = Uint8Array.of(DER.integer, 1, 7, DER.bitString, 0, DER.sequence, 1, 0);
    expect(derElements(bytes, parent(8))?.map(({ tag, start }) => [tag, start])).toEqual([
      [0x02, 0],
      [0x03, 3],
      [0x30, 5],
    ]);
  });

  it("are none at all where one of them is not DER, or something is left over", () => {
    expect(derElements(Uint8Array.of(DER.integer, 1, 7, DER.integer, 5), parent(5))).toBeUndefined();
    expect(derElements(Uint8Array.of(DER.integer, 1, 7, 0), parent(4))).toBeUndefined();
  });

  it("of an empty content are none", () => {
    expect(derElements(new Uint8Array(), parent(0))).toEqual([]);
  });
});
